// Package sched decides what the simulated engine computes in each step:
// continuous batching with chunked prefill, priorities and preemption over the
// block pool of package kv.
//
// Nouns:
//
//   - request: a prompt that grows by one token with each step that computes
//     its last known token.
//   - step: Plan picks work within the token budget and takes the blocks for
//     it; Commit says the work is done and asks for the next token of each
//     request that is up to date.
//   - held: a request whose owner paces it; it keeps its blocks and is left
//     out of steps.
//
// Rules, as a real vLLM follows them: running requests first, in order of
// admission, then waiting ones by (priority, arrival), lower first, or by
// arrival alone. A waiting request comes in only when all its tokens fit now.
// When no block is left, the running request of the largest (priority,
// arrival) loses its blocks and waits again with prompt and output as its
// prompt; without priorities it is the last one admitted. In such a step
// nothing is admitted.
//
// The blocks that a step fills are told when the step is planned, before its
// tokens leave. The last token of a request is never computed and so fills no
// block.
//
// The package is pure: no clock, no I/O, no randomness; same calls, same
// answer. A Scheduler and its requests belong to one goroutine. A step costs
// constant time for each request in it, plus one hash for each block that
// fills; a plan reuses its memory. Waiting requests are not bounded here: the
// owner limits what it lets in.
package sched
