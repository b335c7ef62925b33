// Package replay plays recorded load against model engines in simulated time
// and lets the router's own code decide: package route picks, package cache
// believes, and what differs from a live fleet is the engines and the clock.
//
// The nouns: a Trace (package trace) is the load. A fleet (package fleet) are
// the engines. A Config is one run: strategy, workers, seed. A Result is what
// came out of it. Compare makes the runs of several strategies and seeds, two
// or more at a time, and sums up each strategy in a Row.
//
// The way of a turn: its session's pause ends, its prompt's blocks are hashed,
// the index is told all that workers' events said up to now, less the lag, and
// asked for overlaps; the strategy picks a worker, or the turn waits in the
// router's queue until one has room. The worker computes it, tells what it
// stored, and the session's next turn comes after the pause of the trace.
//
// In a closed loop a number of sessions is alive at any time: one that ends is
// replaced by the next of the trace, in an order that the seed decides, and a
// trace that is used up is begun again with other contents. In an open loop
// sessions come at their times, or at those times divided by Speed. Sub-agents
// start when their parent's turn before them has ended, and the parent waits
// for them.
//
// Only what ends inside the window after the warm-up is counted. The same
// Config and Trace give the same Result on every machine, but for the figures
// of its own speed.
//
// Contents that the trace does not know are unlike all others. The answer of a
// turn is the start of what the next turn adds, as far as there is any.
//
// Cost: a turn of 100 k tokens in blocks of 64 takes about 100 µs of one core.
package replay
