// Package garbage decides how much garbage the daemon lets pile up before it
// is collected.
//
// Go's collector begins when the heap has doubled, which suits a daemon that
// idles, and one that holds much. A busy daemon that holds little would collect
// many times a second: each turn leaves some 100 KB behind, and a collection
// costs by what is held, not by what is freed. So while collections take more
// than a small part of a core, up to Allowance may pile up; where more than
// that is held the doubling is enough. When the daemon has been quiet for a
// while, after its start or some work, what is left is collected, and the memory
// given back to the system.
//
// Run does it until its context ends. The environment's GOGC wins: then
// nothing is changed. A GOMEMLIMIT holds in any case, as it is the runtime's.
//
// Cost: one look at four of the runtime's figures a second, and a stop of the
// world of some 10 µs for each change.
package garbage
