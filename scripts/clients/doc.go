// Command clients runs real coding agents against dyn with a simulated model,
// and writes what each of them did to a table.
//
//	clients -dyn ./dyn -dir FOLDER [-results FILE] [CLIENT[:CASE,…] …]
//	clients -table FILE < results > docs/clients.md
//
// scripts/clients.sh installs the agents into FOLDER and starts this program
// where only the loopback interface exists.
//
// A cell is one client in one case. It has a folder of its own with a HOME, a
// git project and dyn's folders, a daemon of its own (dyn up sim, a free port),
// and a brain file that says what the model answers in this case. Between client
// and daemon stands a tap (tap.go) that notes every exchange. When the client
// has ended, or was ended, the cell is judged (judge.go): by what the client
// printed, by the tap's statuses, by the rows of the ledger, and by the engine's
// own page of metrics.
//
// The nouns: client is how one agent is started, continued and scripted, one
// file each; scene is a case: its rules, its steps, what has to be true after
// it; lab is a cell's surroundings; report is the outcome of one cell.
//
// The cases family-NAME, together families, are of clients with a tool that
// reads files and one that edits them: the model writes as the family NAME does
// (internal/fixtures/families), on a recipe that names no parser.
//
// Every step of a cell has a limit; a client that exceeds it is ended with all
// of its process group, and the cell has failed. A case that a client cannot
// have (Pi has no subagents) is not run and the table says why.
package main
