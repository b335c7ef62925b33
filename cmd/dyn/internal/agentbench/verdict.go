package agentbench

import (
	"fmt"
	"math"
)

// failedMost is the share of failed turns above which nothing is said.
const failedMost = 0.02

// Pairs joins the sessions of two arms, so many in a round, round by round. A
// session that failed under either strategy is left out with its other half.
func Pairs(a, b []Tally, sessions int) []Pair {
	var pairs []Pair
	for i := range min(len(a), len(b)) {
		if a[i].Failed == 0 && b[i].Failed == 0 && a[i].Turns > 0 && a[i].Turns == b[i].Turns {
			pairs = append(pairs, Pair{a[i], b[i], i / sessions})
		}
	}
	return pairs
}

// Verdict says in a word what a contrast of a measure over pairs shows:
// "lower", "higher", or "" with the reason why it shows nothing. a and b are the
// arms whole.
func Verdict(c Contrast, m Measure, pairs []Pair, a, b *Tally) (word, why string) {
	failed, all := a.Failed+b.Failed, a.Failed+b.Failed+a.Turns+b.Turns
	rounds := perRound(m, pairs)
	switch {
	case math.IsNaN(c.Diff):
		return "", "nothing was told of it"
	case float64(failed) > failedMost*float64(all):
		return "", fmt.Sprintf("%d of %d turns failed", failed, all)
	case len(pairs) < MinPairs:
		return "", fmt.Sprintf("%d of the %d pairs of sessions that are needed", len(pairs), MinPairs)
	case len(rounds) < 2:
		return "", "one round, in which the order of the strategies may be why"
	case !c.Clear():
		return "", "the interval crosses zero"
	}
	for i, d := range rounds {
		if !(d*c.Diff > 0) {
			return "", fmt.Sprintf("it is not so in round %d", i+1)
		}
	}
	if c.Diff < 0 {
		return "lower", ""
	}
	return "higher", ""
}

// perRound is the measure of each round that has pairs.
func perRound(m Measure, pairs []Pair) (all []float64) {
	for len(pairs) > 0 {
		n := 1
		for n < len(pairs) && pairs[n].Round == pairs[0].Round {
			n++
		}
		all = append(all, over(m, pairs[:n], func(i int) int { return i }))
		pairs = pairs[n:]
	}
	return all
}
