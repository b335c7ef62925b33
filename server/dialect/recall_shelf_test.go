package dialect

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestShelf puts things of few letters on a shelf and takes them off again, and
// holds what is found to a look at each.
func TestShelf(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		raw := rapid.SliceOfN(rapid.SampledFrom([]byte("aab")), 0, 9)
		s := newShelf[*entry](1 << 20)
		var all []*entry
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			if n := len(all); n > 0 && rapid.IntRange(0, 3).Draw(rt, "less") == 0 {
				i := rapid.IntRange(0, n-1).Draw(rt, "one")
				s.drop(all[i])
				all = append(all[:i], all[i+1:]...)
			}
			x := &entry{spot: spot{raw: raw.Draw(rt, "raw"), size: 1}}
			s.put(x)
			all = append(all, x)

			asked, most := raw.Draw(rt, "asked"), 0
			for _, x := range all {
				most = max(most, commonPrefix(x.raw, asked))
			}
			found, same, at := s.near(0, asked)
			if same != most || same > 0 && commonPrefix(found.raw, asked) != most {
				rt.Fatalf("%s among %s: %d bytes found, want %d", asked, raws(all), same, most)
			}
			b := s.buckets[0]
			if len(b) != len(all) || s.count != len(all) || same > 0 && b[at] != found {
				rt.Fatalf("%d in the bucket, %d counted of %d", len(b), s.count, len(all))
			}
			for i := range b[1:] {
				if bytes.Compare(b[i].raw, b[i+1].raw) > 0 {
					rt.Fatalf("not in order: %s", raws(b))
				}
			}
		}
	})
}

func raws(all []*entry) (list []string) {
	for _, x := range all {
		list = append(list, fmt.Sprintf("%q", x.raw))
	}
	return list
}
