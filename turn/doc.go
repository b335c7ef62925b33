// Package turn holds the words of dyn and the values that its rooms exchange.
// It imports the standard library only; every other room may import it.
//
// The words, one each, the same in code, commands, tables and screens:
//
//   - turn: one request of an agent to the model, and its answer.
//   - dialect: the API a turn came in: chat, responses or messages.
//   - harness: the program that drives the agent (Claude Code, Codex …).
//   - session, agent: one conversation tree of a harness; one line of turns
//     in it, the lead's or a subagent's.
//   - block, chain: a fixed number of tokens; the cumulative hashes of a
//     prompt's blocks. Equal hash means equal prefix up to there.
//   - overlap, hit: tokens a worker is believed to hold when a turn is
//     routed; tokens the engine then reports as cached.
//   - tier: where a block lies: gpu, host, disk or remote.
//   - lease: a promise to try to keep a prefix for a time. cache_control with
//     a TTL asks for one; the user's verbs are pin and unpin.
//   - worker: one engine rank that can take turns.
//   - recipe: a model with all it takes to serve it.
//   - hint: what the harness knows and tells: priority, strict priority,
//     expected output, lease, session end.
//   - band: turns of equal strict priority; a higher band first, always.
//     Inside a band the effective arrival decides, see Class.
//   - queue, gate: the order of turns that wait; the rule that lets a cold
//     session in only while the hot ones still fit.
//
// The way of a turn: a dialect decodes a body to a Turn; the prompt room
// renders it to token ids; the router picks a worker; the worker takes a Job
// and answers with a Stream of Deltas; a parser makes Events of their text;
// the dialect encodes those. Values of this package are plain data: whoever
// holds one may read it from any goroutine as long as nobody writes; IDs are
// never written.
package turn
