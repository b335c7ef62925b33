// Live holds the router that runs against the one that `dyn replay` simulates:
// make live. Recorded sessions of Claude Code are played twice, through a real
// daemon with simulated engines over HTTP, and by package replay with the same
// engines and times; then hits are compared, strategy by strategy. It writes a
// part of docs/routing.md.
//
// The nouns: a load is a trace made from the recorded one, small enough for the
// machine: lengths are divided by four, times by the speed; both sides play the
// same. A run is a load under one strategy, in a daemon of its own. A side is
// what came of a run, live or in replay. The verdict is of all runs.
//
// Prompts are sent as token ids, whose blocks are alike where the recorded
// ones are; an answer comes back as ids and stands in the session's next prompt.
// The simulated engines' step times and KV cache are those of the replay's
// profile. Gate and queue of the router are off on both sides, since they are
// not what is looked at.
//
// It fails when a strategy's hit is more than 15 % off, or when two strategies
// that replay puts more than 10 % apart come in the other order. Where the
// machine was busier than 60 % nothing can be said: the times of engines and of
// the daemon are then those of the machine. That is said loudly, and ends with 3.
package main
