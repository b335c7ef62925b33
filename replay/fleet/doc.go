// Package fleet models the engines that a router chooses from: what a worker's
// KV cache holds, how long its steps take, and what it tells of its blocks. It
// computes no model, and time is a number that its caller moves on.
//
// The nouns: a Profile is how fast a model is on its GPUs. A Request is a turn
// at a worker. A Pool is the blocks of a worker. A Worker plans and ends steps.
// An Event tells that blocks were stored or removed.
//
// A step takes decoding requests first, then chunks of prompts that were begun,
// then waiting ones in the order they came, as long as the budget of tokens,
// the slots and the blocks last; a prompt is begun only when blocks for all of
// it are free. Where a decoding request finds no block, the youngest running
// one gives its blocks back and begins anew (what it filled stays in the cache).
// The hit of a prompt is the longest prefix of whole blocks that are held; its
// last token is always computed. Blocks are stored when the step that fills
// them ends, and removed when they are taken for other tokens.
//
// Steps in which requests only decode are taken together, up to the next block
// or end of an answer, and cut where a new request comes: the times are those
// of single steps.
//
// Nothing is random and nothing reads a clock. All belongs to one goroutine.
//
// Cost: about 10 ns for each block of a prompt and turn, 100 ns for each step
// and running request.
package fleet
