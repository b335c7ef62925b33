package bpe

import (
	"math/rand"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestComposeAgainstLibrary: our own way to NFC equals the library's on texts
// short enough for the library to put no joiners in.
func TestComposeAgainstLibrary(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	pool := []rune("aeoAñéǘx \u0344\u0f73\u0301\u0300\u0323\u0327\u05b0\u1100\u1161\u11a8가각\u09c7\u09be\u212b\u0958\U0001d15e\u034f")
	for range 20_000 {
		text := make([]rune, 1+r.Intn(9))
		for i := range text {
			text[i] = pool[r.Intn(len(pool))]
			if r.Intn(3) == 0 {
				text[i] = rune(0x80 + r.Intn(0x3000))
			}
		}
		got, want := together(apart(string(text))), norm.NFC.String(string(text))
		if got != want {
			t.Fatalf("%+q: got %+q, want %+q", string(text), got, want)
		}
	}
}

func TestComposeManyMarks(t *testing.T) {
	acute, dot := strings.Repeat("\u0301", 40), "\u0323"
	for _, c := range []struct{ name, text, want string }{
		{"no joiner", "x" + acute, "x" + acute},
		{"order across many", "a" + acute + dot + "b", "\u1ea1" + acute + "b"},
		{"first of many", "a" + acute, "\u00e1" + acute[2:]},
		{"nothing before", acute + "e\u0301", acute + "\u00e9"},
	} {
		if got := compose(c.text); got != c.want {
			t.Errorf("%s: got %+q, want %+q", c.name, got, c.want)
		}
	}
}
