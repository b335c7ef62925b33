// Package curve plays recorded load through caches alone: no engine, no router,
// no time that a turn takes. It tells how much of the prompts a cache of some
// size would find under each policy of package policy, which is a ceiling for
// what anybody can do, not a promise: a hit that comes sooner changes nothing
// here of when the next turn comes, and nobody can be an engine's evictor.
//
// The nouns: a Plan is a trace as a cache sees it: turns in their order, each a
// path of runs. Runs are the edges of the tree that all prompts make, cut where
// any two of them part and where any of them ends, so a turn has all of a run or
// none, and all tokens of a run are used again at the same time. A cache holds
// of each run a beginning. A Point is the hit that one policy has at one size.
//
// Sessions of a trace without times are played so many at a time, each going on
// with the pauses and answers as they were recorded; one that ends is replaced.
// Every turn is played once.
//
// Of Belady's policy nothing is above: what a turn has not found has to be held
// while it runs, for every policy alike; a run's next use is never after those
// of the runs behind it; and what goes first is cut block by block. The test
// says so for random loads.
//
// Cost: a turn takes a microsecond or so for the runs of its path and a few for
// what has to go, whatever its length: some million turns a minute.
package curve
