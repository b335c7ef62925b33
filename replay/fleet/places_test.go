package fleet

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// places are a map of hashes, whatever comes and goes, those that collide too.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got places
		want := map[uint64]Slot{}
		hash := rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.Uint64Range(1, 5).Draw(t, "high")<<40 | rapid.SampledFrom([]uint64{0, 1, 2, 1021, 1022, 1023}).Draw(t, "low")
		})
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			h := hash.Draw(t, "hash")
			if _, ok := want[h]; ok && rapid.Bool().Draw(t, "drop") {
				got.drop(h)
				delete(want, h)
			} else if got.add(h, Slot(i)) != !ok {
				t.Fatalf("add of %x when it was there is %v", h, ok)
			} else if !ok {
				want[h] = Slot(i)
			}
		}
		have := map[uint64]Slot{}
		for _, x := range got.at {
			if s, ok := got.get(x.hash); x.hash != 0 && ok {
				have[x.hash] = s
			}
		}
		if !maps.Equal(have, want) || got.used != len(want) {
			t.Fatalf("want %v, got %v of %d", want, have, got.used)
		}
	})
}
