package route

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/internal/wall"
	"github.com/agentinfer/dyn/turn"
)

// world is all of the router that goes by time.
type world struct {
	*Books
	queue   Queue
	breaker Breaker
	gate    Gate
	pick    Strategy
}

func newWorld() *world {
	w := &world{Books: NewBooks(20), queue: Queue{MaxAge: 20 * time.Second}, gate: Gate{Mode: Balanced}}
	w.pick, _ = New("dyn")
	for _, name := range []string{"a", "b"} {
		w.Worker(name, Limits{KVTokens: 20_000, Rates: Rates{Step: 1, Token: 0.1, Context: 1e-5}})
	}
	return w
}

// step is one thing that happens; draws are those of both worlds.
type step struct {
	what, tokens int
	turn, worker string
	need         Need
	err          bool
	arrived      time.Duration // before now
}

func drawStep(t *rapid.T, i int) step {
	return step{
		what:   rapid.IntRange(0, 9).Draw(t, "what"),
		tokens: rapid.IntRange(0, 9000).Draw(t, "tokens"),
		turn:   fmt.Sprint("t", rapid.IntRange(0, max(i, 1)-1).Draw(t, "turn")),
		worker: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "worker"),
		need: Need{
			Turn: fmt.Sprint("t", i), Session: rapid.SampledFrom([]string{"", "s1", "s2", "s3"}).Draw(t, "session"),
			Prompt: rapid.IntRange(1, 9000).Draw(t, "prompt"), Prefix: uint64(rapid.IntRange(0, 2).Draw(t, "prefix")),
		},
		err:     rapid.Bool().Draw(t, "err"),
		arrived: time.Duration(rapid.IntRange(0, 60).Draw(t, "arrived")) * time.Second,
	}
}

// play does a step and returns all that can be seen of the world after it.
func (w *world) play(now time.Time, s step) (seen []any) {
	switch s.what {
	case 0, 1:
		w.Sent(now, Sending{Need: &s.need, Worker: s.worker, Overlap: s.tokens})
	case 2:
		w.First(now, s.turn)
	case 3:
		w.Tokens(now, s.turn, s.tokens)
	case 4, 5:
		w.Ended(now, Outcome{Turn: s.turn, Output: s.tokens / 9, Cached: s.tokens, Err: s.err})
	case 6:
		w.Evicted(now, s.worker, s.tokens)
	case 7:
		arrived := now.Add(-s.arrived)
		it := NewItem(&turn.Turn{ID: s.need.Turn, Arrived: arrived, Tenant: s.worker})
		it.Attained = w.Attained(now, s.need.Session)
		seen = append(seen, errors.Is(w.queue.Push(it), ErrQueueFull))
	case 8:
		var old []string
		w.queue.Expired(now, func(it Item) { old = append(old, it.ID) })
		slices.Sort(old)
		seen = append(seen, old)
		if it, ok := w.queue.Pop(); ok {
			v := w.gate.Judge(now, it.Arrived, &s.need, w.candidates(now, s.need))
			seen = append(seen, it.ID, v.Admit, v.Forced)
		}
	case 9:
		if s.err {
			seen = append(seen, w.breaker.Fail(now, s.need.Turn, "lost"))
		} else if !w.breaker.Open(now) {
			seen = append(seen, w.breaker.Take())
			w.breaker.Began()
		}
	}
	cs := w.candidates(now, s.need)
	return append(seen, cs, w.pick.Pick(s.need, cs), w.breaker.Open(now), w.breaker.Soon(now), w.breaker.Why(now), w.queue.Bands(nil, now))
}

func (w *world) candidates(now time.Time, n Need) []Candidate {
	cs := []Candidate{{Worker: "a", KVTokens: 20_000}, {Worker: "b", KVTokens: 20_000}}
	for i := range cs {
		w.Fill(now, &n, &cs[i])
	}
	return cs
}

// TestClockJumps: that somebody sets the clock on the wall, by years and again
// and again, changes nothing of what is decided.
func TestClockJumps(t *testing.T) {
	start := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		even, jumps := newWorld(), newWorld()
		now := start
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40_000).Draw(t, "ms")) * time.Millisecond)
			by := time.Duration(rapid.IntRange(-100_000, 1_000_000).Draw(t, "hours")) * time.Hour
			s := drawStep(t, i)
			want, got := even.play(now, s), jumps.play(wall.Step(now, by), s)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("step %d, %+v, the clock set by %v:\n%+v, want\n%+v", i, s, by, got, want)
			}
		}
	})
}

// TestTimesOffTheWall: times that lost their even reading, and jump, as those
// of a router fed from a recording may: nothing breaks, no figure leaves its
// bounds, no breaker stays open for longer than the longest pause after the
// clock has settled.
func TestTimesOffTheWall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, now := newWorld(), epoch
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-100_000, 100_000).Draw(t, "s")) * time.Second)
			w.play(now, drawStep(t, i))
			for _, c := range w.candidates(now, Need{Turn: "x", Session: "s1", Prompt: 1000}) {
				if !(c.Backlog >= 0) || !(c.Wanted >= 0) || !(c.Typical >= 0) || c.Hot < 0 || c.Pending < 0 || c.Active < 0 || c.InFlight < 0 || c.Age < 0 {
					t.Fatalf("%+v", c)
				}
				if r := c.Rates; !(r.Token > 0 && r.Token < 10 && r.Step > 0 && r.Step < 100) {
					t.Fatalf("rates %+v", r)
				}
			}
			if had := w.Attained(now, "s1"); had < 0 {
				t.Fatalf("a session attained %v", had)
			}
		}
	})
}
