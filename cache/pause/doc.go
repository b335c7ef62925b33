// Package pause learns how long agents are away between two turns, and says how
// likely one is to be back soon that has been away for a while.
//
// The nouns: a Key is what pauses are alike by: a Class (a tool runs, a person
// thinks, subagents work), the tool, the tenant. A Spread is how long the pauses
// of one kind were: a histogram over logarithmic steps, in which what is new
// counts more. The Estimator has one for every key, for every tool of all
// tenants, and for every class.
//
// The way of a question: the share of the pauses that had not ended by now which
// end within the asked time (the survival S(e+H)/S(e)). Where a key has few
// pauses its answer is drawn to that of the next wider kind, with weight
// n/(n+20), down to the class, and last to a guess that nobody made of data.
//
// By is when an agent is back with a probability of, say, 0.9. Histograms of
// short runs are too sure of themselves, so it is conformal: of the last pauses of
// the class it is remembered at which share they would have been told, before
// they were learnt (their ranks). The share that is asked for is read off those,
// so that as many pauses lie within it as was said, as long as the next ones are
// like the last few hundred, whatever the histograms say.
//
// There is no clock, and nothing is random. An Estimator belongs to one goroutine
// or to a mutex; what it learnt is JSON. Bounds: 1,024 keys, those that were
// asked longest ago go first; 300 bytes for each.
//
// Sources: routing.md's measured pauses (TraceLab; 710 Claude Code sessions) for
// the guess; split-conformal prediction, Vovk et al., "Algorithmic learning in a
// random world", 2005.
package pause
