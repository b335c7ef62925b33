package fleet

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

var plain = Profile{Step: 10, Token: 0.1, Square: 1e-6, Context: 1e-4, Seq: 0.5, Batched: 100, Slots: 4}

// ask is a request for prompt tokens of a line of its own.
func ask(line uint64, prompt, output, block int) *Request {
	r := &Request{Prompt: prompt, Output: output}
	for i := range (prompt + output - 1) / block {
		h := line<<32 | uint64(i+1)
		r.Chain, r.Content = append(r.Chain, h), append(r.Content, h)
	}
	return r
}

// drive ends all steps up to a time and returns it; 0 is until nothing runs.
func drive(w *Worker, until time.Duration) (now time.Duration) {
	for {
		at, ok := w.Next()
		if !ok || until > 0 && at > until {
			return now
		}
		now = at
		w.Finish(at)
	}
}

func near(a, b time.Duration) bool { return math.Abs(float64(a-b)) < 1e3 } // a microsecond

// The time of a turn by hand: three chunks of prompt, then one step a token.
func TestTime(t *testing.T) {
	w := NewWorker(0, plain, 10, 0)
	r := ask(1, 250, 4, 10)
	w.Submit(r, 0)
	drive(w, 0)
	first := duration(3*10 + 0.1*250 + 1e-6*250*250/2)
	rest := duration(3*(10+0.5) + 1e-4*(250+251+252))
	if !near(r.First, first) || !near(r.Ended, first+rest) || r.Cached != 0 {
		t.Errorf("want %v and %v, got %v and %v with %d cached", first, first+rest, r.First, r.Ended, r.Cached)
	}
	// Again: all whole blocks before the last token are there.
	warm := ask(1, 250, 1, 10)
	from := r.Ended + time.Second
	w.Submit(warm, from)
	drive(w, 0)
	if want := from + duration(10+0.1*10+1e-6*10*(240+5)); warm.Cached != 240 || !near(warm.First, want) {
		t.Errorf("want 240 cached, first token at %v; got %d, %v", want, warm.Cached, warm.First)
	}
}

// Steps taken together are the same as one by one.
func TestTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		a, b := NewWorker(0, plain, 8, 2000), NewWorker(0, plain, 8, 2000)
		var ra, rb []*Request
		at := time.Duration(0)
		for i := range 12 {
			at += time.Duration(rng.IntN(300)) * time.Millisecond
			p, o := 1+rng.IntN(300), 1+rng.IntN(60)
			x, y := ask(uint64(i%5), p, o, 8), ask(uint64(i%5), p, o, 8)
			drive(a, at)
			a.Submit(x, at)
			single(b, at)
			b.Submit(y, at)
			ra, rb = append(ra, x), append(rb, y)
		}
		drive(a, 0)
		single(b, 0)
		for i := range ra {
			if !near(ra[i].First, rb[i].First) || !near(ra[i].Ended, rb[i].Ended) || ra[i].Cached != rb[i].Cached {
				t.Fatalf("request %d: together %v %v %d, alone %v %v %d", i, ra[i].First, ra[i].Ended, ra[i].Cached, rb[i].First, rb[i].Ended, rb[i].Cached)
			}
		}
	}
}

// single is drive with steps one by one.
func single(w *Worker, until time.Duration) {
	for {
		w.steps = 1
		at, ok := w.Next()
		if !ok || until > 0 && at > until {
			return
		}
		w.Finish(at)
	}
}

// However short memory is, all requests end, and nothing is left in use.
func TestShort(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	preempted := 0
	for round := range 30 {
		w := NewWorker(0, plain, 8, 400)
		var all []*Request
		held := map[uint64]bool{}
		at, ended := time.Duration(0), 0
		look := func() {
			ended += len(w.Ended)
			w.Ended = w.Ended[:0]
			for _, e := range w.Events {
				for _, h := range e.Removed {
					if !held[h] {
						t.Fatalf("round %d: %x removed, which was not there", round, h)
					}
					delete(held, h)
				}
				if len(e.Stored) != len(e.Content) {
					t.Fatalf("round %d: %d hashes of %d contents", round, len(e.Stored), len(e.Content))
				}
				for _, h := range e.Stored {
					if held[h] {
						t.Fatalf("round %d: %x stored twice", round, h)
					}
					held[h] = true
				}
			}
			w.Events = w.Events[:0]
		}
		for i := range 40 {
			r := ask(uint64(i%7), 1+rng.IntN(300), 1+rng.IntN(90), 8)
			r.Tail = []uint64{uint64(i)<<40 | 1, uint64(i)<<40 | 2}
			r.TailContent, r.Chain, r.Content = r.Tail, r.Chain[:len(r.Chain)*3/4], r.Content[:len(r.Chain)*3/4]
			all = append(all, r)
			w.Submit(r, at)
			for to := at + time.Duration(rng.IntN(200))*time.Millisecond; at < to; {
				next, ok := w.Next()
				if !ok || next > to {
					at = to
					break
				}
				at = next
				w.Finish(at)
				look()
			}
		}
		for n := 0; ; n++ {
			next, ok := w.Next()
			if !ok {
				break
			}
			if n > 1e6 {
				t.Fatalf("round %d: no end", round)
			}
			w.Finish(next)
			look()
		}
		if ended != len(all) || w.Running()+w.Waiting() > 0 || w.pool.free != w.pool.size || w.promised != 0 || len(held) != w.pool.by.used {
			t.Fatalf("round %d: %d of %d ended, %d running, %d waiting, %d of %d blocks free, %d promised, %d told of %d", round,
				ended, len(all), w.Running(), w.Waiting(), w.pool.free, w.pool.size, w.promised, len(held), w.pool.by.used)
		}
		for i, r := range all {
			if r.First <= 0 || r.Ended < r.First || r.gen != r.Output {
				t.Fatalf("round %d request %d: %+v", round, i, r)
			}
			preempted += r.Preempted
		}
	}
	if preempted == 0 {
		t.Error("nothing was preempted")
	}
}

func TestServe(t *testing.T) {
	w := NewWorker(0, plain, 8, 80)
	for i, want := range []int{0, 32, 0, 32, 24} {
		line := uint64(1)
		if i == 2 || i == 3 {
			line = 2
		}
		r := ask(line, 40, 8, 8)
		w.Serve(r, time.Duration(i))
		if r.Cached != want || len(w.Ended) != 1 || w.pool.free != 10 || w.Running() != 0 {
			t.Errorf("turn %d: want %d cached, got %d; %d blocks free", i, want, r.Cached, w.pool.free)
		}
	}
}

func TestProfile(t *testing.T) {
	for _, name := range []string{"Qwen3-32B, 2xH100", "qwen3-32b 2×h100"} {
		if p, err := FindProfile(name); err != nil || p.KV != 307328 {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	if _, err := FindProfile("x"); err == nil {
		t.Error("found")
	}
}
