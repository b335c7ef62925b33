package bpe

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is what the split patterns want to know of a character, as flags.
type class uint8

const (
	letter  class = 1 << iota // \p{L}
	digit                     // \p{N}
	space                     // \s
	newline                   // [\r\n], which are spaces too
)

// classes is the class of every code point up to the last one that has any;
// those above have none.
var classes = sync.OnceValue(func() []class {
	table := make([]class, lastOf(unicode.L, unicode.N, unicode.White_Space)+1)
	mark(table, unicode.L, letter)
	mark(table, unicode.N, digit)
	mark(table, unicode.White_Space, space)
	table['\n'] |= newline
	table['\r'] |= newline
	return table
})

// lastOf returns the highest code point in any of the tables.
func lastOf(tables ...*unicode.RangeTable) (last uint32) {
	for _, t := range tables {
		if n := len(t.R32); n > 0 {
			last = max(last, t.R32[n-1].Hi)
		}
		if n := len(t.R16); n > 0 {
			last = max(last, uint32(t.R16[n-1].Hi))
		}
	}
	return last
}

// mark sets flag c on every code point of t.
func mark(table []class, t *unicode.RangeTable, c class) {
	for _, r := range t.R16 {
		for x := uint32(r.Lo); x <= uint32(r.Hi); x += uint32(r.Stride) {
			table[x] |= c
		}
	}
	for _, r := range t.R32 {
		for x := r.Lo; x <= r.Hi; x += r.Stride {
			table[x] |= c
		}
	}
}

// at returns the class of the character at s[i] and its width in bytes.
func at(table []class, s string, i int) (class, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return table[c], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if int(r) >= len(table) {
		return 0, n
	}
	return table[r], n
}
