package route

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// waiting makes a turn that arrived some seconds after the epoch.
func waiting(id string, at int, who turn.Who, h turn.Hints) Item {
	return NewItem(&turn.Turn{ID: id, Arrived: epoch.Add(time.Duration(at) * time.Second), Who: who, Hints: h})
}

func drain(q *Queue) string {
	var out []string
	for {
		head, some := q.Peek()
		it, ok := q.Pop()
		if !ok {
			return strings.Join(out, " ")
		}
		if !some || head.ID != it.ID {
			return "peek and pop differ"
		}
		out = append(out, it.ID)
	}
}

func TestQueueOrder(t *testing.T) {
	lead, sub := turn.Who{Agent: "main"}, turn.Who{Agent: "a1"}
	for _, c := range []struct {
		name string
		in   []Item
		want string
	}{
		{"first in, first out", []Item{
			waiting("a", 1, lead, turn.Hints{}), waiting("b", 2, lead, turn.Hints{}), waiting("c", 0, lead, turn.Hints{}),
		}, "c a b"},
		{"same instant", []Item{
			waiting("b", 1, lead, turn.Hints{}), waiting("a", 1, lead, turn.Hints{}),
		}, "b a"},
		{"a lead has ten seconds on a subagent", []Item{
			waiting("sub0", 0, sub, turn.Hints{}), waiting("lead9", 9, lead, turn.Hints{}), waiting("lead11", 11, lead, turn.Hints{}),
		}, "lead9 sub0 lead11"},
		{"batch waits a minute longer", []Item{
			waiting("batch", 0, lead, turn.Hints{Batch: true}), waiting("sub59", 59, sub, turn.Hints{}), waiting("sub61", 61, sub, turn.Hints{}),
		}, "sub59 batch sub61"},
		{"priority is seconds", []Item{
			waiting("a", 0, sub, turn.Hints{}), waiting("b", 4, sub, turn.Hints{Priority: 5}), waiting("c", 0, sub, turn.Hints{Priority: -2}),
		}, "b a c"},
		{"a band before all else", []Item{
			waiting("a", 0, lead, turn.Hints{Priority: 1000}), waiting("b", 99, sub, turn.Hints{Strict: 1, Batch: true}), waiting("c", 0, lead, turn.Hints{Strict: -1}),
		}, "b a c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var q Queue
			for _, it := range c.in {
				if err := q.Push(it); err != nil {
					t.Fatal(err)
				}
			}
			if got := drain(&q); got != c.want {
				t.Fatalf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestQueueRefuses(t *testing.T) {
	q := Queue{Limit: 2}
	a := waiting("a", 0, turn.Who{}, turn.Hints{})
	if q.Push(a) != nil || q.Push(a) == nil {
		t.Fatal("an id twice")
	}
	b, c := a, a
	b.ID, c.ID = "b", "c"
	if err := q.Push(b); err != nil {
		t.Fatal(err)
	}
	if err := q.Push(c); !errors.Is(err, ErrQueueFull) {
		t.Fatalf("third of two: %v", err)
	}
	if !q.Remove("a") || q.Remove("a") || q.Push(c) != nil || q.Len() != 2 {
		t.Fatal("no room after a removal")
	}
}

// Whatever is pushed, removed and popped: what comes out is the least of what
// is in, and all of it comes out.
func TestQueueAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		var list []Item
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch what := rapid.IntRange(0, 5).Draw(t, "what"); {
			case what < 3:
				it := waiting(fmt.Sprint(i), rapid.IntRange(0, 5).Draw(t, "at"), turn.Who{}, turn.Hints{Strict: rapid.IntRange(0, 1).Draw(t, "strict")})
				it.seq = uint64(i)
				list = append(list, it)
				if err := q.Push(it); err != nil {
					t.Fatal(err)
				}
			case len(list) == 0:
			case what == 3:
				k := rapid.IntRange(0, len(list)-1).Draw(t, "remove")
				if !q.Remove(list[k].ID) {
					t.Fatal("not found")
				}
				list = slices.Delete(list, k, k+1)
			default:
				least := 0
				for k := range list {
					if list[k].before(&list[least]) {
						least = k
					}
				}
				if got, _ := q.Pop(); got.ID != list[least].ID {
					t.Fatalf("got %s, want %s", got.ID, list[least].ID)
				}
				list = slices.Delete(list, least, least+1)
			}
			if q.Len() != len(list) {
				t.Fatalf("%d in queue, %d in list", q.Len(), len(list))
			}
		}
	})
}

func TestBands(t *testing.T) {
	var q Queue
	lead, sub := turn.Who{}, turn.Who{Agent: "x"}
	q.Push(waiting("a", 0, sub, turn.Hints{}))
	q.Push(waiting("b", 3, sub, turn.Hints{}))
	q.Push(waiting("c", 4, lead, turn.Hints{Strict: 2}))
	prefill := []Item{waiting("d", 1, lead, turn.Hints{}), waiting("e", 1, sub, turn.Hints{})}
	got := fmt.Sprint(q.Bands(prefill, epoch.Add(5*time.Second)))
	if want := "[{2 P0 1 0 1000} {0 P0 0 1 0} {0 P1 2 1 5000}]"; got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	if n := q.Len(); n != 3 {
		t.Fatalf("%d wait", n)
	}
}
