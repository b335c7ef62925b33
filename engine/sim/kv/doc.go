// Package kv is the paged KV cache of the simulated engine: which block holds
// which tokens, which blocks may be reused, and which events tell it to the
// world. It computes no attention; a block is a number and a hash.
//
// Nouns:
//
//   - block: a fixed number of tokens, named by its index in the pool.
//   - hash: names a block together with all that came before it in its prompt.
//     A chain is the hashes of a prompt's whole blocks, in order.
//   - pool: all blocks. Block 0 is reserved and never given out.
//   - free queue: the blocks that nobody uses, in the order in which they are
//     taken. A free block keeps its hash and can be hit until it is taken.
//
// The way of a request: Lookup finds the blocks of its prompt that are still
// held, Claim takes them out of the free queue, Take gives it new ones from the
// queue's front, Fill writes hashes on those that its tokens have filled, and
// Release gives all of them back, tail first. Take and Fill append events;
// Flush hands over what one step of the engine has caused.
//
// The rules are those of a real vLLM with prefix caching, as its recorded
// events show them: no de-duplication of equal blocks, half-filled blocks go to
// the front of the free queue, hashed ones to its end, and a wiped cache says
// so with the next step's events only.
//
// A Pool belongs to one goroutine. It is pure: no clock, no I/O. Memory is a
// fixed 80 bytes a block and one map entry for each distinct hash. All
// operations cost constant time per block.
package kv
