package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/turn"
)

// cramped is a puppet with a KV cache of a thousand tokens.
func cramped(name string) *puppet {
	small := caps(100_000)
	small.KVTokens = 1000
	small.MaxSeqs = 16
	return &puppet{name: name, caps: small}
}

// thrashing is a model at whose only worker a session of 600 tokens is at work,
// and which has evicted what was used a second ago.
func thrashing(t testing.TB, k Knobs) (*Server, *model, *seat) {
	t.Helper()
	s, m := offstage(t, cramped("w0"))
	m.setKnobs(k)
	f := flightOf(s, "at work", "a", 600)
	if err := m.enqueue(f); err != nil {
		t.Fatal(err)
	}
	p, _ := seatedNow(f)
	if p.st == nil {
		t.Fatalf("not at work: %+v", p)
	}
	p.st.started()
	m.books.Aged(time.Now(), "w0", 1<<20, time.Second)
	return s, m, p.st
}

// goes enqueues a flight and says whether it was seated at once.
func goes(t testing.TB, f *flight) bool {
	t.Helper()
	if err := f.m.enqueue(f); err != nil {
		t.Fatal(err)
	}
	p, _ := seatedNow(f)
	return p.st != nil
}

// shown is what a picture has of the gate.
func shown(m *model) snapshot.Snapshot {
	now := time.Now()
	p := snapshot.Snapshot{Workers: m.picture(now)}
	m.gatePicture(&p, now)
	return p
}

// In thrash a cold turn for which there is no room is held, and lets those by
// for which there is; when a session ends it is let in, and its decision says
// so.
func TestHeldUntilThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m, work := thrashing(t, Knobs{})
		cold := flightOf(s, "cold", "b", 500)
		if goes(t, cold) {
			t.Fatal("no room, and not held")
		}
		if !goes(t, flightOf(s, "small", "c", 200)) {
			t.Fatal("room for it, and held")
		}
		p := shown(m)
		if p.Queue.Held != 1 || p.Totals.Held != 1 || !p.Workers[0].Thrash || p.Workers[0].Hot != 800 || *p.Workers[0].AgeS != 1 {
			t.Errorf("queue %+v, worker %+v", p.Queue, p.Workers[0])
		}
		time.Sleep(10 * time.Second)
		if _, ok := seatedNow(cold); ok {
			t.Fatal("let in though nothing changed")
		}
		m.books.Aged(time.Now(), "w0", 1<<20, time.Second)
		work.final = true
		work.left(nil)
		time.Sleep(lookEvery)
		synctest.Wait()
		got, _ := seatedNow(cold)
		if got.st == nil {
			t.Fatal("not let in though there is room")
		}
		h := got.st.decision.Held
		if h == nil || h.MS < 10_000 || h.MS > 10_500 || h.Forced || !strings.HasPrefix(h.Why, "cold, and sessions") || h.Let != "cold, with room for it" {
			t.Errorf("held %+v", h)
		}
		if m.queue.Len() != 0 || shown(m).Queue.Held != 0 {
			t.Errorf("%d still wait", m.queue.Len())
		}
	})
}

// A held turn is let in when its time is over, in every mode after its own.
func TestHeldForSoLong(t *testing.T) {
	for mode, most := range map[route.GateMode]time.Duration{"": 180 * time.Second, route.Balanced: 40 * time.Second, route.Throughput: 180 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s, m, _ := thrashing(t, Knobs{Gate: mode})
			cold := flightOf(s, "cold", "b", 500)
			if goes(t, cold) {
				t.Fatal("not held")
			}
			for i := range int(most / time.Second) {
				m.books.Aged(time.Now(), "w0", 1<<20, time.Second)
				if _, ok := seatedNow(cold); ok {
					t.Fatalf("%s: let in after %d s", mode, i)
				}
				time.Sleep(time.Second)
			}
			time.Sleep(lookEvery)
			synctest.Wait()
			if p, _ := seatedNow(cold); p.st == nil || !p.st.decision.Held.Forced {
				t.Errorf("%s: %+v", mode, p)
			}
			if n := shown(m).Totals.Forced; n != 1 {
				t.Errorf("%d were forced", n)
			}
		})
	}
}

// Where nothing runs nothing is held: one long prompt after another goes at
// once, however soon it pushes out what was there, in every mode.
func TestIdleHoldsNothing(t *testing.T) {
	for _, mode := range []route.GateMode{route.Auto, route.Balanced, route.Throughput} {
		s, m, work := thrashing(t, Knobs{Gate: mode})
		work.left(nil)
		for i := range 5 {
			m.books.Aged(time.Now(), "w0", 1<<20, time.Second)
			f := flightOf(s, fmt.Sprint(i), fmt.Sprint("s", i), 950)
			if err := m.enqueue(f); err != nil {
				t.Fatal(err)
			}
			p, _ := seatedNow(f)
			if p.st == nil {
				t.Fatalf("%s: turn %d is held, and nothing runs", mode, i)
			}
			p.st.left(nil)
		}
		if n := shown(m).Totals.Held; n != 0 {
			t.Errorf("%s: %d were held", mode, n)
		}
	}
}

// Sessions that have had one turn so far are not what others must spare: a
// stream of such turns goes as there is room beside those that run.
func TestOneTurnIsNotHot(t *testing.T) {
	s, m, _ := thrashing(t, Knobs{})
	for i := range 10 {
		m.books.Aged(time.Now(), "w0", 1<<20, time.Second)
		f := flightOf(s, fmt.Sprint(i), fmt.Sprint("s", i), 300)
		if err := m.enqueue(f); err != nil {
			t.Fatal(err)
		}
		p, _ := seatedNow(f)
		if p.st == nil {
			t.Fatalf("turn %d is held", i)
		}
		p.st.left(nil)
	}
	if goes(t, flightOf(s, "large", "large", 330)) {
		t.Error("no room beside what runs, and not held")
	}
}

// When no worker has anything to do any more, one that is held goes at that
// moment; the others go on waiting while it runs.
func TestHeldGoesWhenNothingRuns(t *testing.T) {
	s, m, work := thrashing(t, Knobs{})
	var all []*flight
	for i := range 2 * sweepMost {
		f := flightOf(s, fmt.Sprint(i), fmt.Sprint("s", i), 950)
		if goes(t, f) {
			t.Fatal("not held")
		}
		all = append(all, f)
	}
	m.look() // has asked about some of them, and not yet about others
	for n := len(all); n > 0; n-- {
		work.left(nil)
		if left := m.queue.Held(); left != n-1 {
			t.Fatalf("%d of %d are still held", left, n)
		}
		for _, f := range all {
			if p, ok := seatedNow(f); ok {
				if work = p.st; work == nil || work.decision.Held.Let != "cold, and nothing runs at any worker" {
					t.Fatalf("%+v", p)
				}
			}
		}
	}
}

// A held turn's client hears nothing for five seconds. Refused before it is told
// so in its dialect's form; later it is not refused, but handed to the cheapest
// worker when the time of its wait is over, though there is no room.
func TestHeldStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m, _ := thrashing(t, Knobs{Age: 20 * time.Second})
		quiet, streams := flightOf(s, "quiet", "b", 500), flightOf(s, "streams", "c", 500)
		if goes(t, quiet) || goes(t, streams) {
			t.Fatal("not held")
		}
		time.Sleep(4 * time.Second)
		if rest := streams.opens(time.Now()); rest != time.Second {
			t.Errorf("after four seconds it is to be quiet for %v", rest)
		}
		time.Sleep(time.Second)
		if rest := streams.opens(time.Now()); rest != 0 {
			t.Errorf("after five it is to be quiet for %v", rest)
		}
		time.Sleep(15*time.Second + lookEvery)
		synctest.Wait()
		if p, _ := seatedNow(quiet); !refusedFor(p) {
			t.Errorf("who has heard nothing: %+v", p)
		}
		p, _ := seatedNow(streams)
		if p.st == nil {
			t.Fatalf("who has heard something: %+v", p)
		}
		if h := p.st.decision.Held; h == nil || !h.Forced || h.MS < 20_000 {
			t.Errorf("held %+v", h)
		}
		if m.queue.Len() != 0 || shown(m).Totals.Forced != 1 {
			t.Errorf("%d wait, %d were forced", m.queue.Len(), shown(m).Totals.Forced)
		}
	})
}

// What is refused while it is held has its dialect's status, as a stream too.
func TestHeldIsRefused(t *testing.T) {
	one := cramped("w0")
	one.caps.KVTokens = 100_000
	one.play = func(ctx context.Context, _ turn.Job) (turn.Stream, error) { return &script{ctx: ctx}, nil }
	st := newStage(t, one)
	st.s.SetKnobs(Knobs{Gate: route.Balanced, Age: time.Second})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	text := words(100)
	go st.post(ctx, chatPath, says("first: "+text, ""), "x-session-id", "first")
	st.until("a worker has the first", func() bool { return st.s.Snapshot().Queue.Prefill == 1 })
	one.mu.Lock()
	one.caps.KVTokens = st.s.Snapshot().Workers[0].Hot * 3 / 2 // room for one
	one.mu.Unlock()
	if err := st.s.Update(one); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i, c := range []struct {
		path, body string // but its first words, and its end
		status     int
	}{
		{"/v1/messages", `{"model":"sim","max_tokens":5,"messages":[{"role":"user","content":"%s"}]`, 529},
		{"/v1/responses", `{"model":"sim","input":"%s"`, 503},
		{"/v1/chat/completions", `{"model":"sim","messages":[{"role":"user","content":"%s"}]`, 503},
	} {
		for j, end := range []string{"}", `,"stream":true}`} {
			all.Go(func() {
				body := fmt.Sprintf(c.body, fmt.Sprintf("%d, %d: ", i, j)+text) + end
				a := ask(t, "POST", st.url+c.path, body, "x-session-id", fmt.Sprint(i, j))
				if a.status != c.status || a.header.Get("Retry-After") != "5" {
					t.Errorf("%s%s: %d, Retry-After %q: %s", c.path, end, a.status, a.header.Get("Retry-After"), a.body)
				}
			})
		}
	}
	all.Wait()
	st.s.drawn.Store(nil)
	if p := st.s.Snapshot(); p.Totals.Held != 6 || p.Totals.Forced != 0 {
		t.Errorf("%d were held and %d forced", p.Totals.Held, p.Totals.Forced)
	}
}

// With the gate off nothing is held, and what was held goes when it is turned
// off.
func TestGateOff(t *testing.T) {
	s, m, _ := thrashing(t, Knobs{Gate: route.Open})
	for i := range 5 {
		if !goes(t, flightOf(s, fmt.Sprint(i), fmt.Sprint("s", i), 950)) {
			t.Fatalf("turn %d is held", i)
		}
	}
	if shown(m).Totals.Held != 0 {
		t.Error("some were held")
	}
	s, m, _ = thrashing(t, Knobs{})
	cold := flightOf(s, "cold", "b", 500)
	if goes(t, cold) {
		t.Fatal("not held")
	}
	m.setKnobs(Knobs{Gate: route.Open})
	if p, _ := seatedNow(cold); p.st == nil || p.st.decision.Held == nil || p.st.decision.Held.Let != "the gate is off" {
		t.Errorf("%+v", p)
	}
}

// A client that leaves while its turn is held leaves nothing behind, and when
// it comes again with the same turn its time goes on.
func TestHeldAndGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m, _ := thrashing(t, Knobs{Gate: route.Balanced})
		ctx, leave := context.WithCancelCause(t.Context())
		gone := make(chan error)
		cold := flightOf(s, "cold", "b", 500)
		go func() {
			_, err := m.place(ctx, cold)
			gone <- err
		}()
		time.Sleep(20 * time.Second)
		leave(errLeft)
		if err := <-gone; !errors.Is(err, errLeft) || m.queue.Len()+len(m.waiting) != 0 {
			t.Fatalf("%v, %d wait", err, m.queue.Len())
		}
		if cold.row.GateMS != 20_000 {
			t.Errorf("its row says it was held for %v ms", cold.row.GateMS)
		}
		time.Sleep(15 * time.Second)
		m.books.Aged(time.Now(), "w0", 1<<20, time.Second)
		again := flightOf(s, "again", "b", 500)
		if goes(t, again) {
			t.Fatal("not held")
		}
		time.Sleep(4 * time.Second)
		if _, ok := seatedNow(again); ok {
			t.Fatal("let in before its time")
		}
		time.Sleep(time.Second + lookEvery)
		synctest.Wait()
		if p, _ := seatedNow(again); p.st == nil || !p.st.decision.Held.Forced {
			t.Errorf("forty seconds after it first came: %+v", p)
		}
	})
}

// Thousands that are held go when their time is over, in a few looks.
func TestThousandsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m, _ := thrashing(t, Knobs{Depth: 10_000, Gate: route.Balanced})
		var all []*flight
		for i := range 2000 {
			f := flightOf(s, fmt.Sprint(i), fmt.Sprint("s", i), 400)
			if goes(t, f) {
				t.Fatal("not held")
			}
			all = append(all, f)
		}
		if m.queue.Held() != len(all) {
			t.Fatalf("%d are held", m.queue.Held())
		}
		for range 40 {
			m.books.Aged(time.Now(), "w0", 1<<20, time.Second)
			time.Sleep(time.Second)
		}
		time.Sleep(10 * lookEvery)
		synctest.Wait()
		if m.queue.Held() != 0 {
			t.Errorf("%d are still held", m.queue.Held())
		}
		went := 0
		for _, f := range all {
			if p, ok := seatedNow(f); ok {
				went++
				p.st.left(nil)
			}
		}
		if went != 15 { // the worker's slots but one: the others wait for it
			t.Errorf("%d went at once", went)
		}
	})
}

// What 5,000 held turns cost: a look at them, and a turn that comes and goes.
func BenchmarkHeld(b *testing.B) {
	s, m, _ := thrashing(b, Knobs{Depth: 10_000, Gate: route.Throughput})
	for i := range 5000 {
		if goes(b, flightOf(s, fmt.Sprint(i), fmt.Sprint("s", i), 400)) {
			b.Fatal("not held")
		}
	}
	b.Run("look", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.look()
		}
	})
	b.Run("turn", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f := flightOf(s, "warm", "w", 100)
			if !goes(b, f) {
				b.Fatal("held")
			}
			p := &seat{}
			for st := range m.seats {
				if st.turn == "warm" {
					p = st
				}
			}
			p.left(nil)
		}
	})
}

// What the gate costs a turn where nothing thrashes.
func BenchmarkGate(b *testing.B) {
	for _, mode := range []route.GateMode{route.Open, route.Auto} {
		b.Run(string(mode), func(b *testing.B) {
			var ps []*puppet
			for i := range 8 {
				p := cramped(fmt.Sprint("w", i))
				p.caps.KVTokens = 400_000
				ps = append(ps, p)
			}
			s, m := offstage(b, ps...)
			m.setKnobs(Knobs{Gate: mode})
			f := flightOf(s, "t", "s", 2000)
			b.ReportAllocs()
			for b.Loop() {
				if err := m.enqueue(f); err != nil {
					b.Fatal(err)
				}
				(<-f.seats).st.left(nil)
			}
		})
	}
}
