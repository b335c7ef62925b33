package stops_test

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine/stops"
)

func TestFinder(t *testing.T) {
	for _, c := range []struct {
		name, text, show, met string
		stops                 []string
	}{
		{"none to look for", "abc", "abc", "", nil},
		{"not there", "aab", "aab", "", []string{"ab\n", "xx"}},
		{"at the end", "aab", "a", "ab", []string{"ab"}},
		{"in the middle", "one\n\ntwo", "one", "\n\n", []string{"\n\n"}},
		{"at the start", "STOP it", "", "STOP", []string{"STOP"}},
		{"its beginning twice", "aaab", "aa", "ab", []string{"ab"}},
		{"the first to be complete", "abcd", "a", "bc", []string{"abcd", "bc"}},
		{"the longest at one place", "xabc", "x", "abc", []string{"c", "abc", "bc"}},
		{"an empty one", "ab", "a", "b", []string{"", "b"}},
		{"begun at the end", "the en", "the en", "", []string{"end"}},
		{"in whole characters", "größe", "gr", "ö", []string{"ö"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for size := 1; size <= len(c.text); size++ {
				show, met := run(c.stops, c.text, size)
				if show != c.show || met != c.met {
					t.Fatalf("in pieces of %d: %q and %q, want %q and %q", size, show, met, c.show, c.met)
				}
			}
		})
	}
}

// run pushes a text in pieces.
func run(list []string, text string, size int) (show, met string) {
	f := stops.New(list)
	for len(text) > 0 && met == "" {
		n := min(size, len(text))
		var part string
		part, met = f.Push(text[:n])
		show, text = show+part, text[n:]
	}
	if met == "" {
		show += f.Rest()
	}
	return show, met
}

// However a text is cut, the same is found, and nothing of it is lost.
func FuzzFinder(f *testing.F) {
	f.Add("aaabab", "ab", "ba", uint8(2))
	f.Add("\n\n\n", "\n\n", "", uint8(1))
	f.Fuzz(func(t *testing.T, text, one, two string, size uint8) {
		list := []string{one, two}
		whole, met := run(list, text, len(text)+1)
		show, also := run(list, text, int(size)+1)
		if show != whole || also != met {
			t.Fatalf("%q and %q, in one piece %q and %q", show, also, whole, met)
		}
		if !strings.HasPrefix(text, whole+met) {
			t.Fatalf("%q and %q are not how %q begins", whole, met, text)
		}
	})
}
