// Package lease keeps the book of leases: which prefixes somebody wants kept,
// at which worker, whether that is granted, and whether it came true.
//
// The nouns: a Lease is a promise to try to keep a prefix for a time. A Line is
// one agent's turns with one model; a Mark is one ask of a turn, and covers the
// prompt up to there. The Book holds the leases of all lines. A Budget is how
// many tokens of a worker's KV cache leases may take together, and those of one
// tenant. An Effect is what the router has to know: how many tokens of a line
// are leased at a worker, and until when.
//
// The way of a lease: a turn that was placed is told with Use, with its marks
// and the hashes of its prompt. Marks of one turn nest: each is held by the ones
// behind it, and a prefix that several lines hold counts once. A mark further
// on in the same prompt makes the line's lease grow; use gives it its whole time
// again; at another worker it follows the line there. What is over the budget
// then makes room: the leaf of least worth first (package worth), which gives
// way, or is cut where it is the turn's own. Found says what the engine had of
// what was leased when it was next used: kept, or lost. Nothing is called kept
// before.
//
// A lease ends when its time is over, when its line does (End), when somebody
// takes it back (Unpin), or to make room where there are too many. One that gave
// way stays in the book without effect, to be asked about, and competes again
// when it is used.
//
// The book decides and does nothing: Drain hands out the effects and the leases
// whose state changed. Every call says what time it is; times are compared as
// durations since, so that steps of the clock on the wall do nothing. It is safe
// for concurrent use; under its lock it calls Options.Return only.
//
// Bounds: 10,000 leases and as many pins, half of the leases of one tenant with
// a name, 64 of a line. What is dropped for them is counted.
//
// Cost: a turn without marks, of a line without leases, costs a look at a map;
// while the book is empty, an atomic load. Else it grows with the line's leases,
// and with those at its worker only where the budget is full.
package lease
