package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agentinfer/dyn/replay/trace"
)

// recorded is a trace of n sessions, each of six turns: the system prompt that
// all share, then 100 contents more from turn to turn; the fifth goes back to
// half of what was.
func recorded(n int) *trace.Trace {
	t := &trace.Trace{Name: "made", Block: 64, Paused: true}
	for i := range n {
		s := trace.Session{ID: fmt.Sprint("s", i)}
		own := uint64(i+1) << 32
		kept := 0
		for k := range 6 {
			u := trace.Turn{Keep: kept, Output: 400, Pause: 10 * time.Second}
			if k == 0 {
				u.Runs = []trace.Run{{First: trace.Common, N: 50}}
			} else if k == 4 {
				u.Keep = kept / 2
			}
			u.Runs = append(u.Runs, trace.Run{First: own + uint64(1000*k), N: 100})
			kept = u.Len()
			u.Prompt = kept*64 + 20
			s.Turns = append(s.Turns, u)
		}
		t.Sessions = append(t.Sessions, s)
	}
	return t
}

func TestLoad(t *testing.T) {
	in := recorded(40)
	l, err := load(in, 1, 4, 10, time.Second, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := load(in, 1, 4, 10, time.Second, 20*time.Second)
	other, _ := load(in, 2, 4, 10, time.Second, 20*time.Second)
	name := func(s trace.Session) string { return s.ID }
	ids := names(l, name)
	if !slices.Equal(ids, names(again, name)) || slices.Equal(ids, names(other, name)) {
		t.Error("the seed does not make the load")
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != len(l.Sessions) {
		t.Error("a session is played twice")
	}
	if len(l.Sessions) < 8 || l.Block != 16 || !l.Timed || !l.Paused {
		t.Errorf("%d sessions, block %d", len(l.Sessions), l.Block)
	}
	early := 0
	for _, s := range l.Sessions {
		if s.At <= time.Second {
			early++
		}
		for i, u := range s.Turns {
			if u.Prompt/l.Block != u.Len() || u.Output != 100 || i > 0 && u.Pause != time.Second {
				t.Errorf("%s, turn %d: %+v", s.ID, i, u)
			}
		}
		if s.Turns[0].Keep != 0 || s.Turns[0].Runs[0] != (trace.Run{First: trace.Common, N: 50}) {
			t.Errorf("%s begins with %+v", s.ID, s.Turns[0])
		}
	}
	if early != 4 {
		t.Errorf("%d sessions begin with the first, want 4", early)
	}
	if _, err := load(recorded(5), 1, 4, 10, time.Second, time.Hour); err == nil {
		t.Error("five sessions last for an hour")
	}
}

func names(t *trace.Trace, of func(trace.Session) string) (all []string) {
	for _, s := range t.Sessions {
		all = append(all, of(s))
	}
	return all
}

// Prompts are alike as far as the contents are, hold the answers that came, and
// are as long as they should be.
func TestLine(t *testing.T) {
	l, err := load(recorded(2), 1, 2, 1, 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var firsts [][]uint32
	for _, s := range l.Sessions {
		n := newLine(s.ID, l.Block)
		var before, said []uint32
		for i := range s.Turns {
			u := &s.Turns[i]
			ids := n.next(u)
			if len(ids) != u.Prompt {
				t.Fatalf("turn %d has %d ids, want %d", i, len(ids), u.Prompt)
			}
			want := append(slices.Clone(before), said...) // all of the turn before, and its answer
			if u.Keep < len(before)/l.Block {
				want = before[:u.Keep*l.Block]
			}
			if same := alike(ids, want); same != len(want) {
				t.Errorf("turn %d has %d ids of the %d before", i, same, len(want))
			}
			if i == 0 {
				firsts = append(firsts, ids)
			}
			said = make([]uint32, u.Output)
			for k := range said {
				said[k] = uint32(i)
			}
			n.answer, before = said, ids
		}
	}
	if same := alike(firsts[0], firsts[1]); same < 50*l.Block || same > 51*l.Block {
		t.Errorf("two sessions share %d ids, want %d", same, 50*l.Block)
	}
}

// alike is how many ids are the same from the start.
func alike(a, b []uint32) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
