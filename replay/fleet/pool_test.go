package fleet

import (
	"slices"
	"testing"
	"time"
)

// put fills blocks with hashes and lets them go.
func put(p *Pool, now time.Duration, hashes ...uint64) {
	list := p.Take(nil, len(hashes), now)
	for i, s := range list {
		p.fill(s, hashes[i])
	}
	p.Release(list, now)
}

func TestEviction(t *testing.T) {
	p := NewPool(5)
	put(p, 1, 11, 12, 13)
	put(p, 2, 21, 22)
	hit := p.Find(nil, []uint64{11, 12}, nil)
	if len(hit) != 2 || p.Idle(hit) != 2 {
		t.Fatalf("found %v", hit)
	}
	p.Claim(hit)
	if p.Free() != 3 || p.Idle(hit) != 0 {
		t.Fatalf("free %d", p.Free())
	}
	p.Take(nil, 2, 10) // the tail of the first, then that of the second
	if got, want := slices.Clone(p.Gone()), []uint64{13, 22}; !slices.Equal(got, want) {
		t.Errorf("want %v gone, got %v", want, got)
	}
	p.Release(hit, 11)
	p.Take(nil, 3, 12)
	if got, want := slices.Clone(p.Gone()), []uint64{21, 12, 11}; !slices.Equal(got, want) {
		t.Errorf("want %v gone, got %v", want, got)
	}
	if p.Free() != 0 || p.by.used != 0 {
		t.Errorf("%d free, %d hashes", p.Free(), p.by.used)
	}
}

// Blocks without a hash are taken before fresh ones, and those before hashed.
func TestTakeOrder(t *testing.T) {
	p := NewPool(4)
	put(p, 1, 11)
	bare := p.Take(nil, 1, 2)
	p.Release(bare, 3)
	got := p.Take(nil, 4, 4)
	if want := []Slot{2, 3, 4, 1}; !slices.Equal(got, want) {
		t.Errorf("want slots %v, got %v", want, got)
	}
}

func TestHint(t *testing.T) {
	p := NewPool(3)
	put(p, 1, 11, 12, 13)
	chain := []uint64{11, 12, 13}
	at := p.Find(nil, chain, nil)
	p.Take(nil, 1, 2) // 13 is gone
	for _, hint := range [][]Slot{nil, at, {99, 99, 99}, {at[1], at[0]}} {
		if got := p.Find(nil, chain, hint); !slices.Equal(got, at[:2]) {
			t.Errorf("hint %v: want %v, got %v", hint, at[:2], got)
		}
	}
}

func TestNoBounds(t *testing.T) {
	p := NewPool(0)
	for i := range uint64(1000) {
		put(p, 1, 2*i+1, 2*i+2)
	}
	if len(p.Gone()) != 0 || p.by.used != 2000 {
		t.Errorf("%d hashes, %d gone", p.by.used, len(p.Gone()))
	}
}
