package agentbench

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"
)

// rounds are pairs of a measure's arms, so many in each round, in which A takes
// so many times what B takes.
func rounds(each int, factors ...float64) (pairs []Pair) {
	for round, f := range factors {
		for range each {
			p := Pair{Round: round}
			p.A.Add(Turn{TTFT: time.Duration(f * float64(time.Second))})
			p.B.Add(Turn{TTFT: time.Second})
			pairs = append(pairs, p)
		}
	}
	return pairs
}

func TestVerdict(t *testing.T) {
	well := &Tally{Turns: 100}
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		contrast Contrast
		pairs    []Pair
		a        *Tally
		word     string
		why      string
	}{
		{"plain", Contrast{-0.3, -0.4, -0.2}, rounds(10, 0.6, 0.8), well, "lower", ""},
		{"the other way", Contrast{0.3, 0.2, 0.4}, rounds(10, 1.2, 1.4), well, "higher", ""},
		{"crosses", Contrast{-0.1, -0.3, 0.1}, rounds(10, 0.9, 0.9), well, "", "the interval crosses zero"},
		{"touches", Contrast{0, 0, 0}, rounds(10, 1, 1), well, "", "the interval crosses zero"},
		{"few", Contrast{-0.3, -0.4, -0.2}, rounds(2, 0.7, 0.7), well, "", "4 of the 6 pairs of sessions that are needed"},
		{"one", Contrast{-0.3, nan, nan}, rounds(1, 0.7), well, "", "1 of the 6 pairs of sessions that are needed"},
		{"untold", Contrast{nan, nan, nan}, rounds(10, 1, 1), well, "", "nothing was told of it"},
		{"one round", Contrast{-0.3, -0.4, -0.2}, rounds(20, 0.7), well, "", "one round, in which the order of the strategies may be why"},
		{"a round that was disturbed", Contrast{-0.28, -0.4, -0.2}, rounds(10, 0.4, 1.04), well, "", "it is not so in round 2"},
		{"a round without it", Contrast{-0.3, -0.4, -0.2}, rounds(10, 1, 0.4, 0.5), well, "", "it is not so in round 1"},
		{"failures", Contrast{-0.3, -0.4, -0.2}, rounds(10, 0.7, 0.7), &Tally{Turns: 90, Failed: 10}, "", "10 of 200 turns failed"},
	} {
		if word, why := Verdict(c.contrast, Measures[0], c.pairs, c.a, well); word != c.word || why != c.why {
			t.Errorf("%s: %q, %q", c.name, word, why)
		}
	}
}

// TestPairs: half a session is compared with nothing.
func TestPairs(t *testing.T) {
	good := Turn{TTFT: time.Second}
	a := Sessions(3, []Turn{good, {Session: 1, TTFT: time.Second}, {Session: 1, Err: errors.New("lost")}, {Session: 2, TTFT: time.Second}})
	b := Sessions(3, []Turn{good, {Session: 1, TTFT: time.Second}, {Session: 1, TTFT: time.Second}})
	if pairs := Pairs(slices.Concat(a, a), slices.Concat(b, b), 3); len(pairs) != 2 || pairs[0].Round != 0 || pairs[1].Round != 1 {
		t.Errorf("%+v", pairs)
	}
}
