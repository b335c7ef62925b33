// Package diff tells where a turn parts from the one before it, and why.
//
// The nouns: a Sketch is what is kept of a turn for that, one Sum for each
// block of its messages: hashes, no text. A Change is a part of a message or a
// tool that is not as it was. A Break is what becomes of it when tokens differ:
// the first one that does, the message and field that it comes from, a Kind,
// and what it costs. Text is what stood and what stands there.
//
// All is pure: package prompt knows ids and places in the rendered text, calls
// Messages and Tools for what changed, and Cause for a name of it. A change
// without another token is no break.
//
// Kinds are told by what changed and by the words at that place: a time or a
// date that is another one is a clock, a path another folder, and so on, see
// Kind. What none of them fits is an edit, which is what it looks like.
//
// What may be kept where: a Break without its Text holds counts, positions and
// hashes only, so it may stand in the ledger's books. Text is content.
//
// Cost: a Sketch takes 32 bytes a block; a block is hashed once, when it is new.
// All else is done where tokens differ.
package diff
