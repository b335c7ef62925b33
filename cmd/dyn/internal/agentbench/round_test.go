package agentbench

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var small = Load{Sessions: 3, Turns: 3, Prefix: 1000, Step: 100, Output: 20, Pause: [2]time.Duration{2 * time.Second, 30 * time.Second}, Seed: 1, Mark: "m"}

// TestLoad: the same fields say the same, others something else, and lengths
// are about what was asked for.
func TestLoad(t *testing.T) {
	other := small
	other.Round = 1
	if again := small; small.System() != again.System() || !reflect.DeepEqual(small.Script(1), again.Script(1)) {
		t.Error("a load is not the same twice")
	}
	if reflect.DeepEqual(small.Script(1), small.Script(2)) || reflect.DeepEqual(small.Script(1), other.Script(1)) {
		t.Error("two sessions say the same")
	}
	if n := len(strings.Fields(small.System())); n < 1000 || n > 1100 {
		t.Errorf("the prefix has %d words", n)
	}
	for i := range small.Sessions {
		s := small.Script(i)
		if s.Start < 0 || s.Start > 16*time.Second || len(s.Says) != 3 {
			t.Errorf("session %d: %+v", i, s)
		}
		for k := range s.Says {
			if n := len(strings.Fields(s.Says[k])); n < 50 || n > 153 || s.Pauses[k] < small.Pause[0] || s.Pauses[k] > small.Pause[1] {
				t.Errorf("session %d, turn %d: %d words, a pause of %v", i, k, n, s.Pauses[k])
			}
		}
	}
	if n := len(strings.Fields(strings.Join(small.Script(0).Says, " "))) + 1100 + 3*20; n > small.Context() {
		t.Errorf("a session takes %d, its bound is %d", n, small.Context())
	}
}

// TestRound: sessions pause, remember what they were told, and wait for their
// answers.
func TestRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := func(_ context.Context, q Request) (Answer, error) {
			if n := len(q.Messages); n != 2+2*q.Turn || q.Messages[n-1].Role != "user" || n > 2 && q.Messages[n-2].Content != "said" || q.Last != (q.Turn == 2) {
				t.Errorf("turn %d asks %d messages, last %v", q.Turn, n, q.Last)
			}
			time.Sleep(time.Second)
			if q.Session == 2 && q.Turn == 1 {
				return Answer{}, errors.New("lost")
			}
			return Answer{Text: "said", TTFT: time.Second, Prompt: 1000 + 100*q.Turn, Cached: 900, Output: 20}, nil
		}
		told := make(chan Turn, 9)
		turns := Round(t.Context(), small, ask, func(one Turn) { told <- one })
		if len(turns) != 8 || len(told) != 8 {
			t.Fatalf("%d turns, %d told", len(turns), len(told))
		}
		for _, one := range turns {
			want := small.Script(one.Session).Start
			for k := range one.Turn {
				want += time.Second + small.Script(one.Session).Pauses[k]
			}
			if one.At != want || one.Err == nil && one.Turn > 0 && (one.Known != 900+100*one.Turn || one.Recomputed() != 100*one.Turn) {
				t.Errorf("%+v, want it at %v", one, want)
			}
		}
		y := Sum(turns)
		if y.Turns != 7 || y.Failed != 1 || y.Mean() != 1000 || y.Quantile(0.95) != 1000 || y.Recomputed != 2*(100+200) {
			t.Errorf("%+v", y)
		}
		if per := Sessions(3, turns); per[0].Turns != 3 || per[2].Failed != 1 {
			t.Errorf("%+v", per)
		}
	})
}

// TestRoundEnds: when it is broken off, sessions end in their pauses and
// turns, and what was not done is no failure.
func TestRoundEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		ask := func(ctx context.Context, q Request) (Answer, error) {
			if q.Turn == 1 {
				<-ctx.Done()
			}
			return Answer{TTFT: time.Second}, ctx.Err()
		}
		for _, one := range Round(ctx, small, ask, func(Turn) {}) {
			if one.Err != nil || one.Turn > 0 {
				t.Errorf("%+v", one)
			}
		}
		if ctx.Err() == nil {
			t.Error("it ended before it was broken off")
		}
	})
}

// TestUntold: where engines tell no cached tokens nothing is made up.
func TestUntold(t *testing.T) {
	y := Sum([]Turn{{TTFT: 1, Prompt: 10, Cached: -1, Known: 5}})
	if y.Hit() != -1 || y.PerTurn() != -1 || y.Turns != 1 {
		t.Errorf("hit %v, %v a turn", y.Hit(), y.PerTurn())
	}
	var none Tally
	if none.Mean() != -1 || none.Quantile(0.5) != -1 {
		t.Error("no turns have a time")
	}
}
