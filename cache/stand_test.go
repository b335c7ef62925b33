package cache

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentinfer/dyn/turn"
)

func chainOf(x *Index, vs ...uint32) []uint64 { return Extend(nil, x.Seed(""), toks(vs...), size) }

func TestExpect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewIndex(size, Options{})
		h := join(t, x, "w")
		x.Apply(h, stored(0, "", "gpu", []uint32{1}, 11))
		x.Expect(h, chainOf(x, 1, 2, 3), ExpectTTL)
		check(t, "expected", ask(x, "", 1, 2, 3, 4), "w 1/3 ")

		time.Sleep(3 * time.Second)
		x.Expect(h, chainOf(x, 1, 2, 5), ExpectTTL)
		x.Apply(h, stored(11, "", "gpu", []uint32{2}, 12))
		check(t, "stored in part", ask(x, "", 1, 2, 3, 4), "w 2/3 ")
		x.Apply(h, removed("gpu", 12))
		check(t, "an event ends an expectation", ask(x, "", 1, 2, 3, 4), "w 1/1 ")
		x.Apply(h, stored(11, "", "gpu", []uint32{2}, 12))
		verify(t, x)

		time.Sleep(2 * time.Second)
		check(t, "first one ran out", ask(x, "", 1, 2, 3), "w 2/2 ")
		check(t, "second one lives", ask(x, "", 1, 2, 5), "w 2/3 ")
		time.Sleep(3 * time.Second)
		check(t, "second one ran out", ask(x, "", 1, 2, 5), "w 2/2 ")
		verify(t, x)

		x.Expect(h, chainOf(x, 7, 8), ExpectTTL)
		time.Sleep(3 * time.Second)
		x.Expect(h, chainOf(x, 7), ExpectTTL)
		time.Sleep(2 * time.Second)
		check(t, "expected twice", ask(x, "", 7, 8), "w 0/1 ")
		x.Expect(h, chainOf(x, 7, 8), ExpectTTL)
		x.Apply(h, turn.KVEvent{Kind: turn.KVCleared})
		check(t, "expected after a clear", ask(x, "", 7, 8), "w 0/2 ")
		x.Apply(h, turn.KVEvent{Kind: turn.KVRestart})
		check(t, "expected after a restart", ask(x, "", 7, 8), "")
		verify(t, x)
		if s := x.Stats(); s.Blocks != 0 {
			t.Fatalf("%+v", s)
		}
	})
}

func TestExpectOfTheDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewIndex(size, Options{})
		h := join(t, x, "w")
		x.Expect(h, chainOf(x, 1, 2), ExpectTTL)
		x.Drop(h)
		x.Expect(h, chainOf(x, 1, 2), ExpectTTL)
		other := join(t, x, "v")
		x.Expect(other, chainOf(x, 1), 2*ExpectTTL)
		time.Sleep(ExpectTTL)
		check(t, "the new one's stays", ask(x, "", 1, 2), "v 0/1 ")
		verify(t, x)
	})
}

func TestAssume(t *testing.T) {
	x := NewIndex(size, Options{})
	h := join(t, x, "w")
	const room = 4
	for i, s := range []struct {
		sent []uint32
		ask  []uint32
		want string
	}{
		{[]uint32{1, 2, 3}, []uint32{1, 2, 3, 4}, "w 3/3 "},
		{[]uint32{1, 2, 4}, []uint32{1, 2, 4}, "w 3/3 "},
		{[]uint32{1, 2, 5}, []uint32{1, 2, 3}, "w 2/2 "},    // 3 was oldest
		{[]uint32{1, 2}, []uint32{1, 2, 4}, "w 3/3 "},       // nothing new
		{[]uint32{9}, []uint32{1, 2, 4}, "w 2/2 "},          // 4 was oldest
		{[]uint32{8, 7}, []uint32{1, 2, 5}, "w 1/1 "},       // then 5, then 2, not 1
		{[]uint32{6, 6, 6, 6, 6}, []uint32{6}, "w 1/1 "},    // cut to the room
		{[]uint32{6, 6, 6, 6, 6}, []uint32{1}, ""},          // all else is out
		{[]uint32{6, 1}, []uint32{6, 6, 6, 6}, "w 3/3 "},    // the tail goes
		{[]uint32{6, 6, 6, 6}, []uint32{6, 1}, "w 1/1 "},    // and comes back
		{[]uint32{6, 6, 6, 6}, []uint32{6, 6, 6}, "w 3/3 "}, // same again
	} {
		x.Assume(h, chainOf(x, s.sent...), room)
		check(t, fmt.Sprint("step ", i), ask(x, "", s.ask...), s.want)
		verify(t, x)
		if n := x.holders[h.place()].cached[0]; n > room {
			t.Fatalf("step %d: holds %d", i, n)
		}
	}
	x.Apply(h, stored(0, "", "gpu", []uint32{2}, 11))
	check(t, "events replace it", ask(x, "", 6, 6), "")
	x.Assume(h, chainOf(x, 6, 6), room)
	check(t, "and stay", ask(x, "", 6, 6), "")
	verify(t, x)
}

func TestAssumeOfUnknownRoom(t *testing.T) {
	x := NewIndex(size, Options{})
	h := join(t, x, "w")
	x.Assume(h, make([]uint64, 0), 0)
	x.Assume(h, Extend(nil, x.Seed(""), make([]uint32, DefaultRoom+5*size), size), 0)
	if s := x.Stats(); s.Held != DefaultRoom/size {
		t.Fatalf("%+v", s)
	}
}

func TestAssumeKeepsItsHeapSmall(t *testing.T) {
	x := NewIndex(size, Options{})
	h := join(t, x, "w")
	c := chainOf(x, 1, 2, 3)
	for range 1000 {
		x.Assume(h, c, 10)
	}
	if n := len(x.holders[h.place()].assumed.order); n > 100 {
		t.Fatalf("%d entries for one leaf", n)
	}
}

// Readers, two writers and a clock at once; the race detector looks on.
func TestConcurrentUse(t *testing.T) {
	x := NewIndex(size, Options{})
	chain := chainOf(x, 1, 2, 3, 4)
	var wg sync.WaitGroup
	for i := range 2 {
		h := join(t, x, fmt.Sprint("w", i))
		wg.Go(func() {
			for range 500 {
				x.Apply(h, stored(0, "", "gpu", []uint32{1, 2}, 11, 12))
				x.Expect(h, chain, time.Microsecond)
				x.Apply(h, removed("gpu", 12))
			}
		})
		wg.Go(func() {
			for range 500 {
				for _, o := range x.Overlap(nil, chain) {
					if o.GPU > o.Blocks || o.Blocks > len(chain) {
						t.Errorf("%+v", o)
					}
				}
				x.Stats()
				x.Cached(h)
			}
		})
	}
	wg.Wait()
	verify(t, x)
}
