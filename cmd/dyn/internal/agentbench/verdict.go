package agentbench

import (
	"fmt"
	"math"
)

// failedMost is the share of failed turns above which nothing is said.
const failedMost = 0.02

// Pairs joins the sessions of two arms, round by round. A session that failed
// under either strategy is left out with its other half.
func Pairs(a, b []Tally) []Pair {
	var pairs []Pair
	for i := range min(len(a), len(b)) {
		if a[i].Failed == 0 && b[i].Failed == 0 && a[i].Turns > 0 && a[i].Turns == b[i].Turns {
			pairs = append(pairs, Pair{a[i], b[i]})
		}
	}
	return pairs
}

// Verdict says in a word what a contrast of so many pairs and rounds shows:
// "lower", "higher", or "" with the reason why it shows nothing. a and b are the
// arms whole.
func Verdict(c Contrast, pairs, rounds int, a, b *Tally) (word, why string) {
	failed, all := a.Failed+b.Failed, a.Failed+b.Failed+a.Turns+b.Turns
	switch {
	case math.IsNaN(c.Diff):
		return "", "nothing was told of it"
	case float64(failed) > failedMost*float64(all):
		return "", fmt.Sprintf("%d of %d turns failed", failed, all)
	case pairs < MinPairs:
		return "", fmt.Sprintf("%d pairs of sessions, %d are needed", pairs, MinPairs)
	case rounds < 2:
		return "", "one round, in which the order of the strategies may be why"
	case c.High < 0:
		return "lower", ""
	case c.Low > 0:
		return "higher", ""
	}
	return "", "the interval crosses zero"
}
