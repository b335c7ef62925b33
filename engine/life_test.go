package engine

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentinfer/dyn/turn"
)

func TestPause(t *testing.T) {
	for n, want := range map[int]time.Duration{
		1: 200 * time.Millisecond, 2: 400 * time.Millisecond, 5: 3200 * time.Millisecond, 9: 30 * time.Second, 1 << 40: 30 * time.Second,
	} {
		if got := pause(n); got != want {
			t.Errorf("after %d failures the pause is %v, want %v", n, got, want)
		}
	}
}

// TestWhoWaitsIsLast: who waits for a worker's state goes on when everybody
// was told of it.
func TestWhoWaitsIsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan struct{})
		w := newWorker(&Fleet{o: Options{OnChange: func(*Worker) { <-told }}})
		waited := false
		go func() {
			w.await(t.Context(), func(i turn.WorkerInfo) bool { return i.State == turn.Ready })
			waited = true
		}()
		go w.change(func() { w.life.ready(time.Now()) })
		synctest.Wait()
		if waited {
			t.Error("it went on while others did not know")
		}
		close(told)
		synctest.Wait()
		if !waited {
			t.Error("it waits on")
		}
	})
}

func TestLife(t *testing.T) {
	now := time.Unix(1000, 0)
	after := func(d time.Duration) time.Time { now = now.Add(d); return now }
	l := life{state: turn.Starting}
	l.ready(after(0))
	if l.state != turn.Ready || l.why != "" || !l.since.Equal(now) {
		t.Fatalf("ready: %+v", l)
	}
	for i, want := range []time.Duration{firstPause, 2 * firstPause} {
		if got := l.lost("crash", after(time.Second)); got != want || l.state != turn.Down || l.why != "crash" {
			t.Fatalf("loss %d: %v, %+v", i, got, l)
		}
		l.again(after(time.Second))
		if l.restarts != i+1 || l.state != turn.Starting {
			t.Fatalf("restart %d: %+v", i, l)
		}
		l.ready(after(time.Second))
	}
	if got := l.lost("crash", after(steadyLife)); got != firstPause {
		t.Errorf("after a steady life the pause is %v", got)
	}
	l.held = true
	l.again(after(0))
	l.ready(after(0))
	if l.state != turn.Draining || l.why == "" {
		t.Errorf("drained by hand: %+v", l)
	}
	l.enter(turn.Gone, "stopped", after(0))
	l.ready(after(0))
	if l.state != turn.Gone {
		t.Errorf("it rose from the dead: %+v", l)
	}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		next uint64 // after a replay
		live []uint64
		want []sight
	}{
		{"from the start", 0, []uint64{0, 1, 2}, []sight{fresh, fresh, fresh}},
		{"replayed ones come live too", 3, []uint64{1, 2, 3}, []sight{known, known, fresh}},
		{"hole", 0, []uint64{0, 3}, []sight{fresh, gap}},
		{"joined late", 0, []uint64{7}, []sight{gap}},
		{"new life", 0, []uint64{0, 1, 0, 1}, []sight{fresh, fresh, reborn, fresh}},
		{"new life while catching up", 9, []uint64{5, 6, 0}, []sight{known, known, reborn}},
		{"the same again", 0, []uint64{0, 1, 1}, []sight{fresh, fresh, reborn}},
	} {
		o := order{next: c.next}
		var got []sight
		for _, seq := range c.live {
			s := o.see(seq)
			got = append(got, s)
			if s != known {
				o.take(seq)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
