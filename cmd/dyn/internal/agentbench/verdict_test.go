package agentbench

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestVerdict(t *testing.T) {
	well := &Tally{Turns: 100}
	for _, c := range []struct {
		name     string
		contrast Contrast
		pairs    int
		rounds   int
		a        *Tally
		word     string
		why      string
	}{
		{"plain", Contrast{-0.3, -0.4, -0.2}, 20, 2, well, "lower", ""},
		{"the other way", Contrast{0.3, 0.2, 0.4}, 20, 2, well, "higher", ""},
		{"crosses", Contrast{-0.1, -0.3, 0.1}, 20, 2, well, "", "the interval crosses zero"},
		{"touches", Contrast{0, 0, 0}, 20, 2, well, "", "the interval crosses zero"},
		{"few", Contrast{-0.3, -0.4, -0.2}, 5, 2, well, "", "5 pairs of sessions, 6 are needed"},
		{"one", Contrast{-0.3, math.NaN(), math.NaN()}, 1, 2, well, "", "1 pairs of sessions, 6 are needed"},
		{"untold", Contrast{math.NaN(), math.NaN(), math.NaN()}, 20, 2, well, "", "nothing was told of it"},
		{"one round", Contrast{-0.3, -0.4, -0.2}, 20, 1, well, "", "one round, in which the order of the strategies may be why"},
		{"failures", Contrast{-0.3, -0.4, -0.2}, 20, 2, &Tally{Turns: 90, Failed: 10}, "", "10 of 200 turns failed"},
	} {
		if word, why := Verdict(c.contrast, c.pairs, c.rounds, c.a, well); word != c.word || why != c.why {
			t.Errorf("%s: %q, %q", c.name, word, why)
		}
	}
}

// TestPairs: half a session is compared with nothing.
func TestPairs(t *testing.T) {
	good := Turn{TTFT: time.Second}
	a := Sessions(3, []Turn{good, {Session: 1, TTFT: time.Second}, {Session: 1, Err: errors.New("lost")}, {Session: 2, TTFT: time.Second}})
	b := Sessions(3, []Turn{good, {Session: 1, TTFT: time.Second}, {Session: 1, TTFT: time.Second}})
	if pairs := Pairs(a, b); len(pairs) != 1 {
		t.Errorf("%d pairs", len(pairs))
	}
}
