// Package cache knows what lies where: which worker holds which prefix. What
// somebody asked to keep is in package cache/lease, what it is worth in
// cache/worth.
//
// The nouns: a chain is the hashes of a prompt's blocks, each over all tokens
// up to its end (Extend). An Index maps blocks to holders, which are workers.
// An Overlap is what a holder has of a chain.
//
// The way of an event: engines name blocks by hashes of their own, which mean
// nothing elsewhere. A stored event carries token ids, so the index computes
// our hash from them and from our hash of the parent; the salt comes in with
// block 0 and is inherited that way. A removal names only the engine's hash, and
// engines store a block twice and remove one copy of it: see refs.go.
//
// The way of a question: blocks form a tree, and lie in runs of up to eight, one
// behind the other (see run). A table finds where runs begin. What is held of a
// block are sets of holders' slots, by tier and by how far the block and all
// before it are whole (see settle). Along a chain that only gets worse, so a
// search finds every holder's depth at once, without trust in any order of
// eviction: a block behind a hole counts for nothing until the hole is filled.
// An overlap is never larger than what events, expectations and assumptions
// add up to.
//
// Two stand-ins for events: Expect covers the time between a decision and the
// engine's first event; Assume is an LRU of what was sent to workers that send
// no events. Events replace both.
//
// Owners: one Index per model and block size, fed by each worker's reader in
// order, asked by the server. One lock serialises those who write, whichever
// worker they write for. Readers take none and wait for nobody, also while
// tables grow; what they see of a block was so at one moment of their question.
// Nothing is kept of the slices handed in, but for events that wait for their
// parent.
//
// What may be lost: stores whose parent does not come within five seconds (256
// or 4 Mi tokens wait per holder), stores of another block size, and when
// MaxBytes is full the oldest blocks, those that nobody holds first. Each is
// counted in Stats; the price is an overlap that is too small, never one that is
// too large. Bounds too: 2,048 holders, 128 Ki expected blocks each,
// 255 copies of a block.
//
// Cost: 37 to 53 bytes for a distinct block of long chains, however many have
// it, and 23 to 34 more for a holder that has a name of its own for it; a chain
// that parts from others takes room for eight blocks at once. Overlap looks at
// four to six blocks where holders part ways with their prompts, at some thirty
// where one has lost a part, Since at two; neither allocates. Clearing a holder takes a fixed time, everything else grows with
// what it touches.
package cache
