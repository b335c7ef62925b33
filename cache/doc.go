// Package cache knows what lies where: which worker holds which prefix, and
// which prefixes somebody asked to keep.
//
// The nouns: a chain is the hashes of a prompt's blocks, each over all tokens
// up to its end (Extend). An Index maps blocks to holders, which are workers.
// An Overlap is what a holder has of a chain. A Lease is an ask to keep a
// prefix.
//
// The way of an event: engines name blocks by hashes of their own, which mean
// nothing elsewhere. A stored event carries token ids, so the index computes
// our hash from them and from our hash of the parent; the salt comes in with
// block 0 and is inherited that way. Per holder it keeps engine hash → block
// and copies per tier, because a removal names only the engine hash, and
// because engines store a block twice and remove one copy of it.
//
// The way of a question: blocks form a tree. For each block the index keeps
// who holds it and all before it ("whole", see settle), so along a chain that
// set only falls and a binary search finds every holder's depth at once,
// without trust in any order of eviction: a block behind a hole counts for
// nothing until the hole is filled. An overlap is never larger than what
// events, expectations and assumptions add up to.
//
// Two stand-ins for events: Expect covers the time between a decision and the
// engine's first event; Assume is an LRU of what was sent to workers that send
// no events. Events replace both.
//
// Owners: one Index per model and block size, fed by each worker's reader in
// order, asked by the server; one lock for readers and writers. Nothing is
// kept of the slices handed in, but for events that wait for their parent.
//
// What may be lost: stores whose parent does not come within five seconds (256
// or 4 Mi tokens wait per holder), stores of another block size, and all that
// is beyond MaxBlocks. Each is counted in Stats; the price is an overlap that
// is too small, never one that is too large. Bounds too: 64 holders, 128 Ki
// expected blocks each, 8,192 leases, 255 copies of a block.
//
// Cost: 100 bytes for a distinct block, 36 for each of its holders. On a slow
// core, 16 tokens to a block: Extend 45 ns a block, a stored block 350 ns;
// Overlap of 16 Ki blocks 1 µs where all 64 holders have all, 50 µs where each
// has another depth, without allocation. Clearing a holder takes time with
// what it holds, everything else with what it touches.
package cache
