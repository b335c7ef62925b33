// Cachebench measures what stays cached, and writes docs/cache.md: make
// bench-cache.
//
// Two groups of rows, never in one table. Actuated rows are a closed loop in
// simulated time: engines evict by LRU, the router acts by placement, the gate,
// touching idle sessions and host tiers, and what touching computes is taken
// off the hit. Ideal rows are open loop, the policy being the evictor: what a
// cache of that size could find, a ceiling that nobody is promised. Bars are
// rows of their own, each met or not.
//
// The set-up is a load of Claude Code sessions that want 66,000 tokens each, on
// fleets whose KV is a share of that. Every run is a line of a file, so that what
// was cut off goes on where it ended.
package main
