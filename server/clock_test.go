package server

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/internal/wall"
	"github.com/agentinfer/dyn/server/gauge"
	"github.com/agentinfer/dyn/server/tenant"
	"github.com/agentinfer/dyn/turn"
)

// clocked is what of the server goes by time and is no one else's: the last
// minute of a worker, its drift, its return, and what a key may.
type clocked struct {
	window *gauge.Window
	drift  drift
	back   member
	ring   tenant.Ring
}

func newClocked(now time.Time) *clocked {
	c := &clocked{window: gauge.NewWindow(windowSteps, time.Second)}
	c.ring.Set([]turn.Key{{Name: "k", Hash: sha256.Sum256([]byte("k")), Requests: 30, Tokens: 5000}})
	c.back.info = turn.WorkerInfo{State: turn.Down, Back: now.Add(30 * time.Second)}
	return c
}

// play has a turn come and end at a time, and tells what is seen then.
func (c *clocked) play(now time.Time, prompt, overlap, cached int) string {
	who := c.ring.All()[0]
	err := who.Enter(now)
	if err == nil {
		who.Leave(now, prompt)
	}
	c.window.Add(now, func(s *gauge.Sums) {
		s.Judged++
		s.JudgedPrompt += prompt
		s.JudgedOverlap += min(overlap, prompt)
		s.JudgedCached += min(cached, prompt)
	})
	sum := c.window.Look(now)
	return fmt.Sprint(err, sum.Judged, sum.JudgedPrompt, c.drift.due(now, sum), c.drift.syncs, c.back.returning(now), c.back.usable(now))
}

// TestClockJumps: that somebody sets the clock on the wall changes no limit of
// a key, no window of a screen, no drift and no wait for a worker.
func TestClockJumps(t *testing.T) {
	start := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		even, jumps, now := newClocked(start), newClocked(wall.Step(start, -48*time.Hour)), start
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond)
			by := time.Duration(rapid.IntRange(-100_000, 1_000_000).Draw(t, "hours")) * time.Hour
			prompt, overlap, cached := rapid.IntRange(1, 900).Draw(t, "prompt"), rapid.IntRange(0, 900).Draw(t, "overlap"), rapid.IntRange(0, 99).Draw(t, "cached")
			want, got := even.play(now, prompt, overlap, cached), jumps.play(wall.Step(now, by), prompt, overlap, cached)
			if got != want {
				t.Fatalf("the clock set by %v: %s, want %s", by, got, want)
			}
		}
	})
}

// TestTimesAreWhole: all times that the server keeps of a turn on its way, of
// its session and of its worker have the reading that no jump of the clock
// moves. Those of its row are for people, and not decided by.
func TestTimesAreWhole(t *testing.T) {
	release := make(chan struct{})
	st := newStage(t, slow("w0", release))
	over := make(chan int)
	go func() {
		status, _ := st.post(t.Context(), chatPath, hi)
		over <- status
	}()
	st.until("it is on its way", func() bool { return st.s.Snapshot().Queue.Prefill == 1 })
	m := st.s.all()[0]
	m.mu.Lock()
	seen := 0
	for s := range m.seats {
		seen += whole(t, reflect.ValueOf(s).Elem(), "seat")
	}
	m.mu.Unlock()
	st.s.aloft.Range(func(_, f any) bool {
		seen += whole(t, reflect.ValueOf(f.(*flight).t).Elem(), "turn")
		return true
	})
	if seen == 0 {
		t.Error("no time was seen")
	}
	close(release)
	if status := <-over; status != 200 {
		t.Errorf("status %d", status)
	}
}

// whole looks at the times of a struct and of those that it is made of.
func whole(t *testing.T, v reflect.Value, path string) (seen int) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		at := *(*time.Time)(v.Addr().UnsafePointer())
		if at.IsZero() {
			return 0
		}
		if !wall.Steady(at) {
			t.Errorf("%s goes by the clock on the wall", path)
		}
		return 1
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			seen += whole(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem() == reflect.TypeFor[member]() {
			seen += whole(t, v.Elem(), path)
		}
	}
	return seen
}
