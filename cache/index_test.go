package cache

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentinfer/dyn/turn"
)

const size = 4 // tokens in a block of these tests

// toks is one block whose tokens are all v, for each v.
func toks(vs ...uint32) (out []uint32) {
	for _, v := range vs {
		for range size {
			out = append(out, v)
		}
	}
	return out
}

// stored is an event: engine hashes as given, parent 0 is none.
func stored(parent uint64, salt, tier string, vs []uint32, hashes ...uint64) turn.KVEvent {
	return turn.KVEvent{
		Kind: turn.KVStored, Hashes: hashes, Parent: parent, HasParent: parent != 0,
		Tokens: toks(vs...), BlockSize: size, Tier: tier, Salt: salt,
	}
}

func removed(tier string, hashes ...uint64) turn.KVEvent {
	return turn.KVEvent{Kind: turn.KVRemoved, Hashes: hashes, Tier: tier}
}

func join(t *testing.T, x *Index, name string) Holder {
	t.Helper()
	h, err := x.Join(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask is the overlap of a chain as "worker gpu/all" for each holder.
func ask(x *Index, salt string, vs ...uint32) string {
	out := ""
	got := x.Overlap(nil, Extend(nil, x.Seed(salt), toks(vs...), size))
	slices.SortFunc(got, func(a, b Overlap) int { return cmp.Compare(a.Worker, b.Worker) })
	for _, o := range got {
		out += fmt.Sprintf("%s %d/%d ", o.Worker, o.GPU, o.Blocks)
		if o.Tokens != o.Blocks*size {
			out += "wrong tokens "
		}
	}
	return out
}

func check(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %q, want %q", what, got, want)
	}
}

func TestApply(t *testing.T) {
	type step struct {
		ev   turn.KVEvent
		want string // overlap of the chain 1 2 3 4 without salt
	}
	abc := []uint32{1, 2, 3}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"grows by chained stores", []step{
			{stored(0, "", "gpu", []uint32{1, 2}, 11, 12), "w 2/2 "},
			{stored(12, "", "", []uint32{3, 4}, 13, 14), "w 4/4 "},
		}},
		{"tail goes first", []step{
			{stored(0, "", "gpu", abc, 11, 12, 13), "w 3/3 "},
			{removed("gpu", 13), "w 2/2 "},
			{removed("gpu", 12, 11), ""},
		}},
		{"a hole hides what is behind it", []step{
			{stored(0, "", "gpu", abc, 11, 12, 13), "w 3/3 "},
			{removed("gpu", 11), ""},
			{removed("gpu", 13), ""},
			{stored(0, "", "gpu", []uint32{1}, 11), "w 2/2 "},
		}},
		{"one copy of two is removed", []step{
			{stored(0, "", "gpu", abc, 11, 12, 13), "w 3/3 "},
			{stored(12, "", "gpu", []uint32{3}, 13), "w 3/3 "},
			{removed("gpu", 13), "w 3/3 "},
			{removed("gpu", 13), "w 2/2 "},
			{removed("gpu", 13), "w 2/2 "},
		}},
		{"two engine hashes of one block", []step{
			{stored(0, "", "gpu", []uint32{1}, 11), "w 1/1 "},
			{stored(0, "", "gpu", []uint32{1}, 91), "w 1/1 "},
			{removed("gpu", 11), "w 1/1 "},
			{stored(91, "", "gpu", []uint32{2}, 92), "w 2/2 "},
			{removed("gpu", 92, 91), ""},
		}},
		{"an engine hash changes its meaning", []step{
			{stored(0, "", "gpu", []uint32{1, 2}, 11, 12), "w 2/2 "},
			{stored(0, "", "gpu", []uint32{9}, 12), "w 1/1 "},
			{removed("gpu", 12), "w 1/1 "},
		}},
		{"a child's hash becomes its unheld parent's", []step{
			{stored(0, "", "gpu", []uint32{1, 2}, 11, 12), "w 2/2 "},
			{removed("gpu", 11), ""},
			{stored(0, "", "gpu", []uint32{1}, 12), "w 1/1 "},
			{removed("gpu", 12), ""},
		}},
		{"lower tiers go on where the gpu ends", []step{
			{stored(0, "", "gpu", abc, 11, 12, 13), "w 3/3 "},
			{stored(0, "", "host", abc, 11, 12, 13), "w 3/3 "},
			{removed("gpu", 13, 12), "w 1/3 "},
			{removed("host", 12), "w 1/1 "},
		}},
		{"placeholders name known blocks", []step{
			{stored(0, "", "gpu", abc, 11, 12, 13), "w 3/3 "},
			{turn.KVEvent{Kind: turn.KVStored, Hashes: []uint64{11, 12, 77}, Tier: "disk"}, "w 3/3 "},
			{removed("gpu", 13, 12, 11), "w 0/2 "},
		}},
		{"an orphan waits", []step{
			{stored(12, "", "gpu", []uint32{3}, 13), ""},
			{stored(13, "", "gpu", []uint32{4}, 14), ""},
			{stored(0, "", "gpu", []uint32{1, 2}, 11, 12), "w 4/4 "},
		}},
		{"an orphan's block is removed while it waits", []step{
			{stored(11, "", "gpu", []uint32{2, 3}, 12, 13), ""},
			{removed("gpu", 13), ""},
			{stored(0, "", "gpu", []uint32{1}, 11), "w 2/2 "},
		}},
		{"cleared", []step{
			{stored(0, "", "gpu", abc, 11, 12, 13), "w 3/3 "},
			{turn.KVEvent{Kind: turn.KVCleared}, ""},
			{stored(12, "", "gpu", []uint32{3}, 13), ""},
		}},
		{"restart forgets orphans too", []step{
			{stored(11, "", "gpu", []uint32{2}, 12), ""},
			{turn.KVEvent{Kind: turn.KVRestart}, ""},
			{stored(0, "", "gpu", []uint32{1}, 11), "w 1/1 "},
		}},
		{"salted chains are others'", []step{
			{stored(0, "a", "gpu", abc, 11, 12, 13), ""},
			{stored(13, "", "gpu", []uint32{4}, 14), ""},
			{stored(0, "", "gpu", []uint32{1}, 21), "w 1/1 "},
		}},
		{"misfits", []step{
			{turn.KVEvent{Kind: turn.KVStored, Hashes: []uint64{1}, Tokens: []uint32{1, 2}, BlockSize: 2}, ""},
			{turn.KVEvent{Kind: turn.KVStored, Hashes: []uint64{1, 2}, Tokens: toks(1), BlockSize: size}, ""},
			{removed("host", 99), ""},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := NewIndex(size, Options{Model: "m"})
			h := join(t, x, "w")
			for i, s := range c.steps {
				x.Apply(h, s.ev)
				check(t, fmt.Sprint("step ", i), ask(x, "", 1, 2, 3, 4), s.want)
				verify(t, x)
			}
		})
	}
}

func TestSaltIsInherited(t *testing.T) {
	x := NewIndex(size, Options{})
	h := join(t, x, "w")
	x.Apply(h, stored(0, "a", "gpu", []uint32{1}, 11))
	x.Apply(h, stored(11, "", "gpu", []uint32{2}, 12))
	check(t, "own salt", ask(x, "a", 1, 2), "w 2/2 ")
	check(t, "other salt", ask(x, "b", 1, 2), "")
	check(t, "no salt", ask(x, "", 1, 2), "")
}

func TestManyHolders(t *testing.T) {
	x := NewIndex(size, Options{})
	const many = 300
	var hs []Holder
	for i := range maxHolders {
		hs = append(hs, join(t, x, fmt.Sprint("w", i)))
	}
	if _, err := x.Join("one more"); !errors.Is(err, ErrFull) {
		t.Fatalf("one more: %v", err)
	}
	if again := join(t, x, "w7"); again != hs[7] {
		t.Fatal("a second place for w7")
	}
	for i, h := range hs[:many] {
		for d := range i {
			parent := uint64(d)
			x.Apply(h, stored(parent, "", "gpu", []uint32{uint32(d)}, uint64(d+1)))
		}
	}
	var chain []uint32
	for d := range many + 9 {
		chain = append(chain, uint32(d))
	}
	got := x.Overlap(nil, Extend(nil, x.Seed(""), toks(chain...), size))
	if len(got) != many-1 {
		t.Fatalf("%d holders", len(got))
	}
	for _, o := range got {
		if want := "w" + fmt.Sprint(o.GPU); o.Worker != want || o.Blocks != o.GPU {
			t.Fatalf("%+v", o)
		}
	}
	x.Drop(hs[7])
	x.Apply(hs[7], stored(0, "", "gpu", []uint32{0}, 1))
	if next := join(t, x, "new"); next == hs[7] {
		t.Fatal("a dropped holder names a new worker")
	}
	check(t, "after drop", fmt.Sprint(len(x.Overlap(nil, Extend(nil, x.Seed(""), toks(chain...), size)))), fmt.Sprint(many-2))
	verify(t, x)
}

func TestBounds(t *testing.T) {
	x := NewIndex(size, Options{MaxBlocks: 3, Orphans: 2})
	h := join(t, x, "w")
	x.Apply(h, stored(0, "", "gpu", []uint32{1, 2, 3, 4}, 11, 12, 13, 14))
	check(t, "full", ask(x, "", 1, 2, 3, 4), "w 3/3 ")
	x.Expect(h, Extend(nil, x.Seed(""), toks(1, 2, 3, 5, 6), size), time.Second)
	for i := range uint64(4) {
		x.Apply(h, stored(100+i, "", "gpu", []uint32{1}, 200+i))
	}
	s := x.Stats()
	if s.Blocks != 3 || s.Refused != 2 || s.Parked != 2 || s.Orphans != 2 || s.Held != 3 || s.Bytes == 0 {
		t.Fatalf("%+v", s)
	}
	verify(t, x)
}

func TestParkedTokensAreBounded(t *testing.T) {
	const block = 1 << 20
	x := NewIndex(block, Options{})
	h := join(t, x, "w")
	for i := range uint64(6) {
		x.Apply(h, turn.KVEvent{Kind: turn.KVStored, Hashes: []uint64{i}, Parent: 99, HasParent: true, Tokens: make([]uint32, block), BlockSize: block})
	}
	if s := x.Stats(); s.Parked != 4 || s.Orphans != 2 {
		t.Fatalf("%+v", s)
	}
}

func TestOrphansEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewIndex(size, Options{})
		h := join(t, x, "w")
		x.Apply(h, stored(11, "", "gpu", []uint32{2}, 12))
		time.Sleep(5 * time.Second)
		x.Apply(h, stored(0, "", "gpu", []uint32{1}, 11))
		check(t, "late parent", ask(x, "", 1, 2), "w 1/1 ")
		if s := x.Stats(); s.Orphans != 1 || s.Dropped() != 1 {
			t.Fatalf("%+v", s)
		}
	})
}

func TestCachedByTier(t *testing.T) {
	x := NewIndex(size, Options{})
	h := join(t, x, "w")
	check(t, "before events", fmt.Sprint(x.Cached(h)), "[{gpu 0 -1 0}]")
	x.Apply(h, stored(0, "", "gpu", []uint32{1, 2}, 11, 12))
	x.Apply(h, stored(11, "", "gpu", []uint32{2}, 12))
	x.Apply(h, stored(0, "", "host", []uint32{1}, 11))
	check(t, "after stores", fmt.Sprint(x.Cached(h)), "[{gpu 0 8 0} {host 0 4 0}]")
	x.Apply(h, removed("gpu", 11, 12))
	check(t, "after removals", fmt.Sprint(x.Cached(h)), "[{gpu 0 4 0} {host 0 4 0}]")
	x.Apply(h, turn.KVEvent{Kind: turn.KVCleared})
	check(t, "after clear", fmt.Sprint(x.Cached(h)), "[{gpu 0 0 0}]")
}

func TestClockOfASimulation(t *testing.T) {
	now := time.Unix(0, 1)
	x := NewIndex(size, Options{Now: func() time.Time { return now }})
	h := join(t, x, "w")
	x.Expect(h, chainOf(x, 1, 2), time.Second)
	x.Apply(h, stored(11, "", "gpu", []uint32{2}, 12))
	check(t, "expected", ask(x, "", 1, 2), "w 0/2 ")
	now = now.Add(time.Second)
	check(t, "ran out", ask(x, "", 1, 2), "")
	now = now.Add(5 * time.Second)
	x.Apply(h, stored(0, "", "gpu", []uint32{1}, 11))
	check(t, "late parent", ask(x, "", 1, 2), "w 1/1 ")
}
