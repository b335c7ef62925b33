// Command accept is the client of the acceptance test, scripts/acceptance.sh:
// it talks to a daemon as agents do, and checks what the daemon then says of
// it. It knows the daemon by its public address and by `dyn … --json` only.
//
//	accept talk URL [TAG]       the scripted conversation, through all dialects
//	accept cached FILE          FILE is `dyn stats --turns --json`
//	accept crowd URL DYN        more turns than slots; compares `dyn top`
//	accept forgot FILE WORKER   FILE is `dyn top --once --json`, after a kill
//
// The conversation has two agents per dialect, a lead and a subagent that runs
// beside it. Each asks, gets calls of a tool, answers them with long results,
// and asks again, so that its history grows by hundreds of tokens a turn. The
// answers are scripted in scripts/brain.yaml.
//
// A check prints one line per fact and ends the program with 1 at the first
// one that does not hold.
package main
