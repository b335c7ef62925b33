package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentinfer/dyn/turn"
)

func TestPaceOfAnIdleWorker(t *testing.T) {
	idle := turn.Load{KVUsed: 0.25}
	for _, c := range []struct {
		name    string
		load    turn.Load
		streams int
		rests   bool // after it was seen at a worker that rests
	}{
		{"nothing moves", idle, 0, true},
		{"a stream is open", idle, 1, false},
		{"a turn runs that nobody here sent", turn.Load{KVUsed: 0.25, Running: 1}, 0, false},
		{"a turn waits", turn.Load{KVUsed: 0.25, Waiting: 1}, 0, false},
		{"its cache has changed", turn.Load{KVUsed: 0.5}, 0, false},
	} {
		var p pace
		for n := range restAfter {
			p.saw(idle, 0)
			if n < restAfter-1 && p.rests() {
				t.Fatalf("%s: it rests after %d looks", c.name, n+1)
			}
		}
		p.saw(idle, 0)
		if !p.rests() {
			t.Fatalf("%s: it never rests", c.name)
		}
		if p.saw(c.load, c.streams); p.rests() != c.rests {
			t.Errorf("%s: rests is %v", c.name, p.rests())
		}
		if p.stir(); p.rests() {
			t.Errorf("%s: it rests when it was stirred", c.name)
		}
	}
}

func TestMomentsAreTheSameForAll(t *testing.T) {
	at := time.Unix(1000, 0)
	for _, ms := range []int{0, 1, 250, 999, 1000, 1999, 3001} {
		now := at.Add(time.Duration(ms) * time.Millisecond)
		wait := untilNext(now, time.Second)
		if next := now.Add(wait); wait <= 0 || wait > time.Second || next.Nanosecond() != 0 {
			t.Errorf("%d ms: in %v, at %v", ms, wait, next)
		}
	}
}

// idleEngine is a server that has nothing to do. It counts the looks at it.
type idleEngine struct {
	Client
	looks atomic.Int64
}

func (e *idleEngine) Load(context.Context) (turn.Load, error) {
	e.looks.Add(1)
	return turn.Load{At: time.Now()}, nil
}

func (*idleEngine) Health(context.Context) error { return nil }

func (*idleEngine) Generate(context.Context, turn.Job) (turn.Stream, error) {
	return nil, turn.ErrBusy
}

// A launched worker that is idle is looked at less often, and again when a
// turn comes; an attached one, where others may have turns, each time.
func TestAnIdleWorkerRests(t *testing.T) {
	for attached, want := range map[bool]int64{false: 5 + 40/restEvery, true: 45} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			e := &idleEngine{}
			w := newWorker(NewFleet(Options{}))
			w.attached, w.client = attached, e
			w.life.ready(time.Now())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				w.watch(ctx, e)
			}()
			time.Sleep(45 * time.Second)
			if n := e.looks.Load(); n < want-1 || n > want+1 {
				t.Errorf("attached %v: %d looks in 45 s, want %d", attached, n, want)
			}
			before := e.looks.Load()
			w.Generate(t.Context(), turn.Job{})
			synctest.Wait()
			if n := e.looks.Load() - before; n != 1 && !attached {
				t.Errorf("a turn had it looked at %d times", n)
			}
			cancel()
			<-ended
		})
	}
}
