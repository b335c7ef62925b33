package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentinfer/dyn/recipes"
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

// TestBack: when a worker takes turns again is known where it was started
// before, and it is started anew.
func TestBack(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	started := func() *life {
		l := &life{state: turn.Starting, since: at(0)}
		l.started(at(3))
		l.ready(at(3))
		return l
	}
	for _, c := range []struct {
		name string
		do   func(l *life)
		want time.Time
	}{
		{"ready", func(*life) {}, time.Time{}},
		{"lost", func(l *life) { l.lost("x", at(100)) }, at(103.2)},
		{"lost again", func(l *life) { l.lost("x", at(100)); l.again(at(101)); l.lost("x", at(102)) }, at(105.4)},
		{"started anew", func(l *life) { l.lost("x", at(100)); l.again(at(101)) }, at(104)},
		{"by hand", func(l *life) { l.enter(turn.Draining, "restarting", at(100)); l.expect(at(100), 0) }, at(103)},
		{"ready again", func(l *life) { l.lost("x", at(100)); l.again(at(101)); l.started(at(102)); l.ready(at(102)) }, time.Time{}},
		{"slower now", func(l *life) {
			l.lost("x", at(100))
			l.again(at(101))
			l.started(at(121))
			l.ready(at(121))
			l.lost("x", at(200))
		}, at(220.2)},
		{"drained by hand", func(l *life) { l.enter(turn.Draining, byHand, at(100)) }, time.Time{}},
		{"silent", func(l *life) { l.enter(turn.Down, "it does not answer", at(100)) }, time.Time{}},
		{"given up", func(l *life) {
			for range giveUpAfter {
				l.lost("x", at(100))
			}
		}, time.Time{}},
		{"never ready before", func(l *life) { *l = life{state: turn.Starting}; l.again(at(100)) }, time.Time{}},
	} {
		l := started()
		c.do(l)
		if !l.back.Equal(c.want) {
			t.Errorf("%s: back at %v, want %v", c.name, l.back.Sub(at(0)), c.want.Sub(at(0)))
		}
	}
}

// broken is an adapter whose engines never start.
type broken struct{ tries int }

func (*broken) Name() string         { return "broken" }
func (*broken) Open(Endpoint) Client { return nil }
func (b *broken) Launch(Spec, Place) (Launch, error) {
	b.tries++
	return Launch{}, errors.New("no such program")
}

// A worker that is lost again and again is left alone, until a person says
// otherwise.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		f := NewFleet(Options{Logs: t.TempDir(), OnEvent: func(e Event) { told = append(told, e.Kind) }})
		w := newWorker(f)
		w.client = struct{ Client }{} // it was ready once
		ctx, cancel := context.WithCancel(t.Context())
		var b broken
		go w.supervise(ctx, Spec{Recipe: &recipes.Recipe{}}, &b)
		time.Sleep(time.Hour)
		synctest.Wait()
		i := w.Info()
		if b.tries != giveUpAfter || i.State != turn.Down || !strings.Contains(i.Why, "6 times in a row, at last with: no such program; try: dyn restart") {
			t.Fatalf("after %d tries it is %s: %s", b.tries, i.State, i.Why)
		}
		if want := []string{EventDown, EventGaveUp}; !slices.Equal(told[len(told)-2:], want) {
			t.Fatalf("told %v, want %v at the end", told, want)
		}
		w.orderRestart()
		time.Sleep(time.Hour)
		synctest.Wait()
		if b.tries != 2*giveUpAfter {
			t.Fatalf("after a restart by hand it was tried %d times, want %d", b.tries-giveUpAfter, giveUpAfter)
		}
		cancel()
		<-w.done
		f.Stop(context.Background(), 0)
	})
}

func TestStuck(t *testing.T) {
	type look struct {
		at, heard time.Duration
		waiting   int
		load      turn.Load
		want      time.Duration
	}
	for _, c := range []struct {
		name  string
		looks []look
	}{
		{"nobody waits", []look{{0, -1, 0, turn.Load{}, 0}, {60, -1, 0, turn.Load{}, 0}}},
		{"nothing moves", []look{{0, -1, 1, turn.Load{Work: 7}, 0}, {60, -1, 1, turn.Load{Work: 7}, 60}, {90, -1, 2, turn.Load{Work: 7}, 90}}},
		{"more turns arrive", []look{{0, -1, 1, turn.Load{Running: 1}, 0}, {60, -1, 9, turn.Load{Running: 2, Waiting: 7}, 60}}},
		{"a token came", []look{{0, -1, 1, turn.Load{}, 0}, {60, 50, 1, turn.Load{}, 10}, {90, 50, 1, turn.Load{}, 40}}},
		{"it computes", []look{{0, -1, 1, turn.Load{Work: 1}, 0}, {60, -1, 1, turn.Load{Work: 2}, 0}, {90, -1, 1, turn.Load{Work: 2}, 30}}},
		{"the cache fills", []look{{0, -1, 1, turn.Load{}, 0}, {60, -1, 1, turn.Load{KVUsed: 0.1}, 0}}},
		{"it was idle long", []look{{0, -1, 0, turn.Load{}, 0}, {900, -1, 0, turn.Load{}, 0}, {901, -1, 1, turn.Load{}, 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s stuck
			begin := time.Unix(1000, 0)
			for i, l := range c.looks {
				got := s.quiet(begin.Add(l.at*time.Second), l.waiting, begin.Add(l.heard*time.Second), l.load)
				if got != l.want*time.Second {
					t.Errorf("look %d: quiet for %v, want %v", i, got, l.want*time.Second)
				}
			}
		})
	}
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

// In TestOrder a batch is its number and the letter of its life.
func TestOrder(t *testing.T) {
	type batch struct {
		seq  uint64
		life uint64
	}
	var long []batch
	for i := range uint64(remembered + 5) {
		long = append(long, batch{i, 'a'})
	}
	for _, c := range []struct {
		name     string
		replayed []batch
		live     []batch
		want     []sight
	}{
		{"from the start", nil, []batch{{0, 'a'}, {1, 'a'}, {2, 'a'}}, []sight{fresh, fresh, fresh}},
		{"replayed ones come live too", long[:3], []batch{{1, 'a'}, {2, 'a'}, {3, 'a'}}, []sight{known, known, fresh}},
		{"after a long replay", long, []batch{{2, 'a'}, {7, 'a'}, {remembered + 5, 'a'}}, []sight{known, known, fresh}},
		{"hole", nil, []batch{{0, 'a'}, {3, 'a'}}, []sight{fresh, gap}},
		{"joined late", nil, []batch{{7, 'a'}}, []sight{gap}},
		{"new life", nil, []batch{{0, 'a'}, {1, 'a'}, {0, 'b'}, {1, 'b'}}, []sight{fresh, fresh, reborn, fresh}},
		{"new life before a live one", long[:3], []batch{{0, 'b'}, {1, 'b'}}, []sight{reborn, fresh}},
		{"new life while catching up", long[:9], []batch{{5, 'a'}, {6, 'a'}, {0, 'b'}}, []sight{known, known, reborn}},
		{"twice", nil, []batch{{0, 'a'}, {1, 'a'}, {1, 'a'}, {2, 'a'}}, []sight{fresh, fresh, known, fresh}},
		{"an old one again", nil, []batch{{0, 'a'}, {1, 'a'}, {2, 'a'}, {0, 'a'}, {3, 'a'}}, []sight{fresh, fresh, fresh, known, fresh}},
		{"late, after a replay", long[:3], []batch{{4, 'a'}, {3, 'a'}, {5, 'a'}}, []sight{gap, reborn, gap}},
		{"one that is not remembered", long, []batch{{remembered + 5, 'a'}, {2, 'a'}}, []sight{fresh, reborn}},
	} {
		var o order
		for _, b := range c.replayed {
			o.take(b.seq, b.life)
		}
		var got []sight
		for _, b := range c.live {
			s := o.see(b.seq, b.life)
			got = append(got, s)
			if s != known {
				o.take(b.seq, b.life)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
