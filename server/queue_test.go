package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// offstage is a server over puppets that nobody can reach.
func offstage(t testing.TB, ps ...*puppet) (*Server, *model) {
	t.Helper()
	s := New(Options{Ledger: new(ledger.Ledger)}) // which writes nothing
	s.AddModel(Model{ID: "sim", Prompt: oneModel(t), Parser: hermes})
	for _, p := range ps {
		p.caps.Model, p.play = "sim", aWord
		if err := s.Update(p); err != nil {
			t.Fatal(err)
		}
	}
	return s, s.models["sim"]
}

var oneModel = func() func(testing.TB) *prompt.Model {
	var once sync.Once
	var m *prompt.Model
	return func(t testing.TB) *prompt.Model {
		once.Do(func() { m = simModel(t) })
		return m
	}
}()

// single is a puppet that runs one turn at once.
func single(name string) *puppet {
	one := caps(100_000)
	one.MaxSeqs = 1
	return &puppet{name: name, caps: one}
}

// flightOf is a flight of a session with a prompt of so many tokens.
func flightOf(s *Server, id, session string, tokens int) *flight {
	ids := make([]uint32, tokens)
	for i := range ids {
		ids[i] = uint32(len(session)*1000 + i)
	}
	m := s.models["sim"]
	t := &turn.Turn{ID: id, Model: m.ID, Arrived: time.Now(), Who: turn.Who{Session: session, Agent: "main"}}
	return &flight{
		s: s, m: m, t: t, seats: make(chan placement, 1), asked: tokens, caller: caller{session: session},
		job: turn.Job{ID: id, Prompt: turn.IDsOf(ids...), MaxTokens: 10},
	}
}

// seated takes the placement that has come, or nothing.
func seatedNow(f *flight) (p placement, ok bool) {
	select {
	case p = <-f.seats:
		return p, true
	default:
		return p, false
	}
}

// Below the threshold nothing waits: whoever comes while a worker that can take
// it has room is seated at once, however many wait for others.
func TestNobodyWaitsBelowTheThreshold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var ps []*puppet
		for i := range rapid.IntRange(1, 4).Draw(rt, "workers") {
			p := single(fmt.Sprint("w", i))
			p.caps.MaxSeqs = rapid.IntRange(1, 3).Draw(rt, "slots")
			p.caps.MaxBatched = rapid.SampledFrom([]int{16, 64, 1024}).Draw(rt, "batch")
			ps = append(ps, p)
		}
		s, m := offstage(t, ps...)
		k := Knobs{Depth: rapid.SampledFrom([]int{-1, 3, 0}).Draw(rt, "depth")}
		m.setKnobs(k)
		var taken []*seat
		var waits []*flight
		for i := range rapid.IntRange(1, 120).Draw(rt, "steps") {
			switch what := rapid.IntRange(0, 5).Draw(rt, "what"); {
			case what < 4:
				f := flightOf(s, fmt.Sprint(i), fmt.Sprint("s", i), rapid.IntRange(1, 400).Draw(rt, "tokens"))
				if rapid.Bool().Draw(rt, "pinned") {
					f.demand.worker = rapid.SampledFrom(ps).Draw(rt, "to").name
				}
				full := m.full(f)
				err := m.enqueue(f)
				p, ok := seatedNow(f)
				if !full && (!ok || p.st == nil) {
					rt.Fatalf("turn %d waits (%v) though a worker has room", i, err)
				}
				if full && ok {
					rt.Fatalf("turn %d does not wait though all are full", i)
				}
				if ok {
					taken = append(taken, p.st)
				} else if err == nil {
					waits = append(waits, f)
				}
			case len(taken) == 0:
			case what == 4:
				rapid.SampledFrom(taken).Draw(rt, "first token").started()
			default:
				n := rapid.IntRange(0, len(taken)-1).Draw(rt, "ends")
				taken[n].left(nil)
				taken = append(taken[:n], taken[n+1:]...)
			}
			still := waits[:0]
			for _, f := range waits {
				if p, ok := seatedNow(f); ok {
					taken = append(taken, p.st)
				} else if still = append(still, f); !m.full(f) && !m.midway {
					rt.Fatalf("%s waits though a worker has room", f.t.ID)
				}
			}
			waits = still
		}
	})
}

// Who comes when the queue is full is refused with his dialect's status, as a
// stream too, and told when to come again.
func TestFullQueueRefuses(t *testing.T) {
	one := single("w0")
	one.play = func(ctx context.Context, _ turn.Job) (turn.Stream, error) { return &script{ctx: ctx}, nil }
	st := newStage(t, one)
	st.s.SetKnobs(Knobs{Depth: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go st.post(ctx, chatPath, says("hi", ""))
	st.until("the slot is taken", func() bool { return st.s.Snapshot().Queue.Prefill == 1 })
	go st.post(ctx, chatPath, says("ho", ""))
	st.until("one waits", func() bool { return st.s.Snapshot().Queue.Waiting == 1 })
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/v1/messages", `{"model":"sim","max_tokens":5,"messages":[{"role":"user","content":"hi"}]`, 529, "overloaded_error"},
		{"/v1/responses", `{"model":"sim","input":"hi"`, 503, "server_error"},
		{"/v1/chat/completions", `{"model":"sim","messages":[{"role":"user","content":"hi"}]`, 503, "server_error"},
	} {
		for _, stream := range []string{"}", `,"stream":true}`} {
			resp, err := http.Post(st.url+c.path, "application/json", strings.NewReader(c.body+stream))
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != c.status || resp.Header.Get("Retry-After") != "5" || !strings.Contains(string(b), c.says) || !strings.Contains(string(b), "1 turns wait") {
				t.Errorf("%s%s: %d, Retry-After %q: %s", c.path, stream, resp.StatusCode, resp.Header.Get("Retry-After"), b)
			}
		}
	}
	st.until("they are counted", func() bool { return st.s.Snapshot().Queue.Rejected == 6 })
}

// refusedFor reports a refusal for load that says when to come again.
func refusedFor(p placement) bool {
	var told *dialect.Problem
	return p.st == nil && errors.Is(p.err, turn.ErrBusy) && errors.As(p.err, &told) && told.Kind == dialect.Busy && told.RetryAfter > 0
}

// A turn that waits too long is refused while its client has heard nothing,
// and else handed to a worker that is full.
func TestTooOldToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := offstage(t, single("w0"))
		first, quiet, begun := flightOf(s, "a", "a", 100), flightOf(s, "b", "b", 100), flightOf(s, "c", "c", 100)
		for _, f := range []*flight{first, quiet, begun} {
			if err := m.enqueue(f); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(4 * time.Second)
		if rest := begun.opens(time.Now()); rest != time.Second {
			t.Errorf("after four seconds it is to be quiet for %v", rest)
		}
		time.Sleep(time.Second)
		if rest := begun.opens(time.Now()); rest != 0 {
			t.Errorf("after five it is to be quiet for %v", rest)
		}
		time.Sleep(ageMost - 6*time.Second)
		if _, ok := seatedNow(quiet); ok {
			t.Fatal("refused before its time")
		}
		time.Sleep(2 * time.Second)
		if p, _ := seatedNow(quiet); !refusedFor(p) {
			t.Errorf("who has heard nothing: %+v", p)
		}
		if rest := quiet.opens(time.Now()); rest >= 0 {
			t.Errorf("may be told something after a refusal: %v", rest)
		}
		if p, _ := seatedNow(begun); p.st == nil || p.st.name != "w0" {
			t.Errorf("who has heard something: %+v", p)
		}
		if m.queue.Len() != 0 || len(m.waiting) != 0 {
			t.Errorf("%d wait", m.queue.Len())
		}
	})
}

// The client of a turn that waits hears nothing for five seconds, whatever the
// signs of life are; of one that is at a worker it does.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := offstage(t, single("w0"))
		s.pingEvery = time.Second
		for _, c := range []struct {
			id   string
			want time.Duration
		}{{"went", time.Second}, {"waits", quietTime}} {
			f := flightOf(s, c.id, c.id, 100)
			f.ctx, f.out = t.Context(), make(chan item)
			if err := m.enqueue(f); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if it := f.silence(); it.err != nil || len(it.deltas) > 0 {
				t.Fatalf("%+v", it)
			}
			if got := time.Since(began); got != c.want {
				t.Errorf("who %s is silent for %v, want %v", c.id, got, c.want)
			}
		}
	})
}

// Who leaves, or is refused, and comes again with the same turn has its old
// place; with another turn it has not, nor after a while.
func TestRetryHasItsOldPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := offstage(t, single("w0"))
		m.setKnobs(Knobs{Depth: 3})
		m.enqueue(flightOf(s, "at work", "x", 10))
		ctx, leave := context.WithCancelCause(t.Context())
		gone := make(chan error)
		go func() {
			_, err := m.place(ctx, flightOf(s, "one", "one", 100))
			gone <- err
		}()
		synctest.Wait()
		time.Sleep(time.Second)
		m.enqueue(flightOf(s, "two", "two", 100))
		m.enqueue(flightOf(s, "three", "three", 100))
		if err := m.enqueue(flightOf(s, "four", "four", 100)); !refusedFor(placement{err: err}) {
			t.Fatalf("one more than may wait: %v", err)
		}
		leave(errLeft)
		if err := <-gone; !errors.Is(err, errLeft) {
			t.Fatal(err)
		}
		first := func(want string) {
			t.Helper()
			it, _ := m.queue.Pop()
			if m.queue.Return(it); it.ID != want {
				t.Errorf("first is %s, want %s", it.ID, want)
			}
		}
		first("two")
		time.Sleep(time.Minute)
		m.enqueue(flightOf(s, "one, again", "one", 100))
		first("one, again")
		m.queue.Remove("one, again")
		m.queue.Remove("three")
		m.enqueue(flightOf(s, "one, with another prompt", "one", 101))
		first("two")
		m.queue.Remove("two")
		m.enqueue(flightOf(s, "five", "five", 100))
		m.enqueue(flightOf(s, "four, again", "four", 100))
		m.queue.Remove("one, with another prompt")
		first("four, again")
	})
}
