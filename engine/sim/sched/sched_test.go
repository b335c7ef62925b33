package sched

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine/sim/kv"
)

const size = 4

// bench is a scheduler whose requests end after a number of tokens.
type bench struct {
	*Scheduler
	pool  *kv.Pool
	left  map[*Request]int
	order []string // requests that ended, in order
	names map[*Request]string
	log   []string // events of each step that had some
}

func newBench(blocks int, cfg Config) *bench {
	b := &bench{left: map[*Request]int{}, names: map[*Request]string{}, pool: kv.New(blocks, size)}
	b.Scheduler = New(b.pool, cfg)
	return b
}

// add queues a prompt of n equal tokens.
func (b *bench) add(name string, token uint32, n, out, priority int) *Request {
	r := &Request{Priority: priority}
	for range n {
		r.Tokens = append(r.Tokens, token)
	}
	b.left[r], b.names[r] = out, name
	b.Add(r)
	return r
}

// step plans and commits one step; it tells what was planned.
func (b *bench) step() string {
	var out []string
	p := b.Plan()
	for _, c := range p.Chunks {
		out = append(out, fmt.Sprintf("%s%d", b.names[c.Request], c.Tokens))
	}
	b.log = append(b.log, tell(p.Events))
	b.Commit(func(r *Request) (uint32, Verdict) {
		if b.left[r]--; b.left[r] > 0 {
			return 9, More
		}
		b.order = append(b.order, b.names[r])
		return 9, Last
	})
	return strings.Join(out, " ")
}

// tell is events in short: S and the number of hashes, R and C.
func tell(events []kv.Event) string {
	var out []string
	for _, e := range events {
		switch e.Kind {
		case kv.Stored:
			out = append(out, fmt.Sprintf("S%d", len(e.Hashes)))
		case kv.Removed:
			out = append(out, "R")
		case kv.Cleared:
			out = append(out, "C")
		}
	}
	return strings.Join(out, " ")
}

func (b *bench) steps(n int) (out []string) {
	for range n {
		out = append(out, b.step())
	}
	return out
}

func TestChunkedPrefill(t *testing.T) {
	b := newBench(50, Config{Budget: 10, Slots: 4})
	b.add("a", 1, 3, 3, 0)
	b.add("b", 2, 15, 2, 0)
	if got, want := b.steps(4), []string{"a3 b7", "a1 b8", "a1 b1", ""}; !reflect.DeepEqual(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
	if want := []string{"S1", "S1 S2", "S1", ""}; !reflect.DeepEqual(want, b.log) {
		t.Errorf("want %q, got %q", want, b.log)
	}
}

func TestSlots(t *testing.T) {
	b := newBench(50, Config{Budget: 100, Slots: 1})
	b.add("a", 1, 3, 2, 0)
	b.add("b", 2, 3, 1, 0)
	if got, want := b.steps(3), []string{"a3", "a1", "b3"}; !reflect.DeepEqual(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestPriority(t *testing.T) {
	for _, c := range []struct {
		name     string
		priority bool
		want     []string
	}{
		{"first come", false, []string{"a", "b", "c", "d"}},
		{"lower first", true, []string{"a", "d", "b", "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(50, Config{Budget: 100, Slots: 1, Priority: c.priority})
			b.add("a", 1, 3, 2, 0)
			b.step()
			b.add("b", 2, 3, 1, 0)
			b.add("c", 3, 3, 1, 10)
			b.add("d", 4, 3, 1, -10)
			b.steps(6)
			if !reflect.DeepEqual(c.want, b.order) {
				t.Errorf("want %v, got %v", c.want, b.order)
			}
		})
	}
}

// TestAdmission: a request waits until all its tokens fit, not its first
// chunk only, and hits that are free cost blocks too.
func TestAdmission(t *testing.T) {
	b := newBench(9, Config{Budget: 4, Slots: 4}) // 8 usable
	b.add("a", 1, 16, 4, 0)
	b.add("b", 2, 20, 1, 0)
	if got, want := b.steps(7), []string{"a4", "a4", "a4", "a4", "a1", "a1", "a1"}; !reflect.DeepEqual(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
	if got := b.step(); got != "b4" {
		t.Errorf("want b admitted, got %q", got)
	}
}

// TestTwins: two equal requests that grow in step each take, fill and store
// blocks of their own, as a recorded server in a full cache does.
func TestTwins(t *testing.T) {
	b := newBench(9, Config{Budget: 100, Slots: 4})
	b.add("x", 7, 29, 4, 0)
	b.steps(4)
	if b.pool.Cached() != 8 {
		t.Fatalf("the cache is not full: %d", b.pool.Cached())
	}
	b.log = nil
	b.add("a", 1, 7, 4, 0)
	b.add("b", 1, 7, 4, 0)
	b.steps(3)
	if want := []string{"R R S1 R", "S1 S1", "R R"}; !reflect.DeepEqual(want, b.log) {
		t.Errorf("want %q, got %q", want, b.log)
	}
}

func TestPreemption(t *testing.T) {
	for _, c := range []struct {
		name     string
		priority bool
		want     string
	}{
		{"the last one", false, "b"},
		{"the least important one", true, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(7, Config{Budget: 100, Slots: 4, Priority: c.priority}) // 6 usable
			a := b.add("a", 1, 12, 4, 5)
			z := b.add("b", 2, 12, 4, 1)
			b.steps(2)
			lost := map[string]int{"a": a.Preempted, "b": z.Preempted}
			if lost[c.want] != 1 || b.Preemptions != 1 || b.Running() != 1 || b.Waiting() != 1 {
				t.Fatalf("lost %v, running %d, waiting %d", lost, b.Running(), b.Waiting())
			}
			b.steps(12)
			if len(b.order) != 2 || a.Cached != 0 || z.Cached != 0 {
				t.Errorf("ended %v, cached %d and %d", b.order, a.Cached, z.Cached)
			}
			if b.pool.Free() != 6 {
				t.Errorf("free %d", b.pool.Free())
			}
		})
	}
}

func TestHeldAndDropped(t *testing.T) {
	b := newBench(50, Config{Budget: 100, Slots: 4})
	a := b.add("a", 1, 3, 9, 0)
	c := b.add("c", 2, 3, 9, 0)
	b.step()
	a.Held = true
	if got := b.step(); got != "c1" {
		t.Errorf("want a held, got %q", got)
	}
	b.Drop(c)
	if got := b.step(); got != "" {
		t.Errorf("want nothing, got %q", got)
	}
	a.Held = false
	if got := b.step(); got != "a1" {
		t.Errorf("want a, got %q", got)
	}
	b.Drop(a)
	b.Drop(a)
	if b.pool.Free() != 49 || b.Running()+b.Waiting() != 0 {
		t.Errorf("free %d, running %d", b.pool.Free(), b.Running())
	}
}

// TestResetIsToldLate: a wiped cache is told with the next step that has work.
func TestResetIsToldLate(t *testing.T) {
	b := newBench(50, Config{Budget: 100, Slots: 4})
	b.add("a", 1, 9, 1, 0)
	b.step()
	b.pool.Reset()
	b.step()
	b.add("b", 1, 9, 1, 0)
	b.step()
	if want := []string{"S2", "", "C S2"}; !reflect.DeepEqual(want, b.log) {
		t.Errorf("want %q, got %q", want, b.log)
	}
}
