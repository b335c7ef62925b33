package bpe

import (
	"math/rand"
	"strings"
	"testing"
	"unicode"

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
		got, want := string(together(nil, apart(nil, string(text)))), norm.NFC.String(string(text))
		if got != want {
			t.Fatalf("%+q: got %+q, want %+q", string(text), got, want)
		}
		if got := inNFC(string(text)); got != want {
			t.Fatalf("compose %+q: got %+q, want %+q", string(text), got, want)
		}
	}
}

// inNFC is text as compose makes it.
func inNFC(text string) string {
	if out, changed := new(composer).compose(nil, text); changed {
		return string(out)
	}
	return text
}

// TestComposeEveryCharacter tries each character alone, between others, and
// before and after a mark, a vowel and a consonant that may join it.
func TestComposeEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 || r > 0x32000 && r%101 > 0 || r > 0x3400 && r < 0xf900 && r%11 > 0 {
			continue // what has no forms is tried here and there
		}
		c := string(r)
		text := c + "a" + c + "\u0301" + c + "\u0323\u0301é" + c + "\u1161" + c + "\u11a8x"
		if got, want := inNFC(text), norm.NFC.String(text); got != want {
			t.Fatalf("U+%04X: got %+q, want %+q", r, got, want)
		}
	}
}

func FuzzCompose(f *testing.F) {
	for _, s := range []string{"", "e\u0301", "\u1100\u1161\u11a8", "\u0958\u0323a\u0323\u0301", "\u0344x\u212b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		want := norm.NFC.String(text)
		if strings.ContainsRune(want, '\u034f') {
			return // x/text may have put joiners in
		}
		if got := inNFC(text); got != want {
			t.Errorf("%+q: got %+q, want %+q", text, got, want)
		}
	})
}

func TestComposeManyMarks(t *testing.T) {
	acute, dot := strings.Repeat("\u0301", 40), "\u0323"
	for _, c := range []struct{ name, text, want string }{
		{"no joiner", "x" + acute, "x" + acute},
		{"order across many", "a" + acute + dot + "b", "\u1ea1" + acute + "b"},
		{"first of many", "a" + acute, "\u00e1" + acute[2:]},
		{"nothing before", acute + "e\u0301", acute + "\u00e9"},
	} {
		if got := inNFC(c.text); got != c.want {
			t.Errorf("%s: got %+q, want %+q", c.name, got, c.want)
		}
	}
}
