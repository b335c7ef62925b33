package kv

import (
	"reflect"
	"testing"
)

const size = 4

// names gives each hash a short name: the first token of its block.
func tell(events []Event) (out []string) {
	for _, e := range events {
		switch e.Kind {
		case Stored:
			s := "S"
			for i := range e.Hashes {
				s += string(rune('a' + e.Tokens[i*size]))
			}
			out = append(out, s)
		case Removed:
			out = append(out, "R")
		case Cleared:
			out = append(out, "C")
		}
	}
	return out
}

// fill takes blocks for ids and fills the whole ones.
func fill(p *Pool, ids []uint32) []Block {
	chain := Chain(nil, ids, size, "")
	bs := p.Take(nil, (len(ids)+size-1)/size)
	p.Fill(bs, chain, ids, 0, len(chain), "")
	return bs
}

// prompt is n tokens; block i starts with token from+i.
func prompt(from uint32, n int) (ids []uint32) {
	for i := range n {
		ids = append(ids, from+uint32(i/size))
	}
	return ids
}

func TestChain(t *testing.T) {
	ids := prompt(0, 10)
	whole := Chain(nil, ids, size, "")
	if len(whole) != 2 {
		t.Fatalf("want 2 hashes, got %d", len(whole))
	}
	if got := Chain(whole[:1:1], ids, size, ""); !reflect.DeepEqual(whole, got) {
		t.Error("a chain that is continued differs from one made at once")
	}
	if Chain(nil, ids[4:8], size, "")[0] == whole[1] {
		t.Error("equal tokens behind different parents have one hash")
	}
	salted := Chain(nil, ids, size, "x")
	if salted[0] == whole[0] || salted[1] == whole[1] {
		t.Error("the salt does not reach all blocks")
	}
}

func TestReleaseOrder(t *testing.T) {
	p := New(8, size) // blocks 1..7
	a := fill(p, prompt(0, 10))
	b := fill(p, prompt(10, 8))
	p.Release(a)
	p.Release(b)
	// Block 3 of a is half filled and comes first; then the two that were
	// never used, then the tails before the heads.
	if got, want := p.Take(nil, 7), []Block{3, 6, 7, 2, 1, 5, 4}; !reflect.DeepEqual(want, got) {
		t.Errorf("want %v, got %v", want, got)
	}
	if got, want := tell(p.Flush()), []string{"Sab", "Skl", "R", "R", "R", "R"}; !reflect.DeepEqual(want, got) {
		t.Errorf("want %v, got %v", want, got)
	}
}

func TestHit(t *testing.T) {
	p := New(8, size)
	ids := prompt(0, 12)
	chain := Chain(nil, ids, size, "")
	p.Release(fill(p, ids))
	for _, c := range []struct{ limit, want int }{{0, 0}, {2, 2}, {9, 3}} {
		if got := p.Lookup(nil, chain, c.limit); len(got) != c.want {
			t.Errorf("limit %d: want %d blocks, got %v", c.limit, c.want, got)
		}
	}
	hit := p.Lookup(nil, chain, 3)
	if p.Evictable(hit) != 3 || p.Free() != 7 {
		t.Fatalf("evictable %d, free %d", p.Evictable(hit), p.Free())
	}
	p.Claim(hit)
	p.Claim(hit)
	if p.Evictable(hit) != 0 || p.Free() != 4 {
		t.Fatalf("evictable %d, free %d", p.Evictable(hit), p.Free())
	}
	p.Release(hit)
	if p.Free() != 4 {
		t.Errorf("a block in use was freed: free %d", p.Free())
	}
}

// TestCopies: equal blocks are kept side by side, and the hash is held until
// the last of them is taken.
func TestCopies(t *testing.T) {
	p := New(4, size)
	ids := prompt(0, 4)
	chain := Chain(nil, ids, size, "")
	var all []Block
	for range 3 {
		all = append(all, fill(p, ids)...)
	}
	if p.Cached() != 1 {
		t.Fatalf("want 1 hash, got %d", p.Cached())
	}
	p.Release(all[1:2])
	p.Release(all[2:])
	p.Release(all[:1])
	for i, oldest := range []Block{1, 1, 1} {
		if got := p.Lookup(nil, chain, 1); len(got) != 1 || got[0] != oldest {
			t.Fatalf("round %d: want block %d, got %v", i, oldest, got)
		}
		p.Take(nil, 1) // 2, then 3, then 1
	}
	if got := p.Lookup(nil, chain, 1); len(got) != 0 || p.Cached() != 0 {
		t.Errorf("the hash is still held: %v", got)
	}
}

func TestReset(t *testing.T) {
	p := New(4, size)
	bs := fill(p, prompt(0, 8))
	p.Flush()
	if p.Reset() {
		t.Error("reset with blocks in use")
	}
	p.Release(bs)
	if !p.Reset() || p.Cached() != 0 {
		t.Error("not reset")
	}
	if got, want := p.Take(nil, 3), []Block{3, 2, 1}; !reflect.DeepEqual(want, got) {
		t.Errorf("order after reset: want %v, got %v", want, got)
	}
	if got, want := tell(p.Flush()), []string{"C"}; !reflect.DeepEqual(want, got) {
		t.Errorf("want %v, got %v", want, got)
	}
}
