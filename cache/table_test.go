package cache

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestFlatAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f flat[ref]
		want := map[uint64]ref{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			// Few homes, at both ends of the table, so that rows run around it.
			key := rapid.SampledFrom([]uint64{0, 1 << 62, ^uint64(0) - 60}).Draw(t, "home") + rapid.Uint64Range(0, 30).Draw(t, "key")
			if rapid.Bool().Draw(t, "put") {
				v := ref{node: rapid.Uint32Range(1, 9).Draw(t, "value")}
				f.put(key, v, refSize)
				want[key] = v
			} else {
				f.del(key)
				delete(want, key)
			}
			if f.n != len(want) {
				t.Fatalf("%d entries, want %d", f.n, len(want))
			}
			for k, v := range want {
				if f.get(k) != v {
					t.Fatalf("%x: %v, want %v", k, f.get(k), v)
				}
			}
		}
	})
}

func TestMixIsReversible(t *testing.T) {
	for range 1000 {
		if x := rand.Uint64(); unmix(mix(x)) != x {
			t.Fatalf("%x", x)
		}
	}
}

// A table that is split several times finds all that is in it and nothing
// else, while entries come and go.
func TestTableSplits(t *testing.T) {
	x := NewIndex(16, Options{})
	r := rand.New(rand.NewPCG(1, 2))
	in := map[uint64]uint32{}
	var keys []uint64
	for i := range 200_000 {
		h := mix(r.Uint64())
		if id := x.make(h, 0, nil); id == 0 {
			t.Fatal("no room")
		} else {
			in[h] = id
		}
		keys = append(keys, h)
		if i%3 == 0 {
			old := keys[r.IntN(len(keys))]
			if id, ok := in[old]; ok {
				x.prune(id)
				delete(in, old)
			}
		}
	}
	for _, h := range keys {
		if got, want := x.own.find(h), in[h]; got != want {
			t.Fatalf("%x: node %d, want %d", h, got, want)
		}
	}
	if d := x.own.dir.Load().depth; d < 2 {
		t.Fatalf("split to depth %d only", d)
	}
}

// Keys that all belong to one bucket: the table refuses some in the end, and
// keeps what it has.
func TestTableOfPoison(t *testing.T) {
	x := NewIndex(16, Options{MaxBytes: 1 << 26})
	in := map[uint64]uint32{}
	for i := range uint64(5000) {
		h := i << 32 // same tag, same place
		if id := x.make(h, 0, nil); id != 0 {
			in[h] = id
		}
	}
	if len(in) == 5000 || len(in) < 100 {
		t.Fatalf("%d entries", len(in))
	}
	for h, id := range in {
		if x.nodes.lives(id) && x.nodes.hash(id) == h && x.own.find(h) != id {
			t.Fatalf("%x is not found", h)
		}
	}
}
