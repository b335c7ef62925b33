package bpe

import (
	"math/rand"
	"testing"
)

// TestEight compares what looks at eight bytes at once with one at a time.
func TestEight(t *testing.T) {
	ascii := func(c byte) bool { return c < 0x80 }
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	small := func(c byte) bool { return c >= 'a' && c <= 'z' }
	capital := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	r := rand.New(rand.NewSource(1))
	for range 50_000 {
		b := make([]byte, r.Intn(40))
		for i := range b {
			b[i] = "aZqM"[r.Intn(4)]
			if r.Intn(12) == 0 {
				b[i] = byte(r.Intn(256))
			}
		}
		s, from := string(b), r.Intn(len(b)+1)
		for _, c := range []struct {
			name string
			end  func(string, int) int
			in   func(byte) bool
		}{
			{"letters", lettersEnd, func(c byte) bool { return small(c) || capital(c) }},
			{"smalls", smallsEnd, small},
			{"no digits", noDigitsEnd, func(c byte) bool { return ascii(c) && !digit(c) }},
			{"ascii", asciiEnd, ascii},
		} {
			want := from
			for want < len(s) && c.in(s[want]) {
				want++
			}
			if got := c.end(s, from); got != want {
				t.Fatalf("%s of %q from %d: got %d, want %d", c.name, s, from, got, want)
			}
		}
	}
}
