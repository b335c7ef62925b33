package bpe

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is what the split patterns want to know of a character, as flags.
type class uint16

const (
	upper    class = 1 << iota // \p{Lu}, \p{Lt}
	lower                      // \p{Ll}
	caseless                   // \p{Lm}, \p{Lo}
	digit                      // \p{N}
	space                      // \s
	newline                    // [\r\n], which are spaces too
	accent                     // \p{M}
	sign                       // \p{P}, \p{S}
	han                        // \p{Han}
	kana                       // DeepSeek's range of CJK characters and kana
	latin                      // [A-Za-z]
	loose                      // NFC may change it, alone or with those before it
	joining                    // NFC may join it to those before it

	letter = upper | lower | caseless // \p{L}
)

// classes is the class of every code point, in blocks of 256: many blocks are
// the same and kept once.
type classes struct {
	ascii  [utf8.RuneSelf]class
	block  [(unicode.MaxRune + 1) / 256]uint16
	blocks [][256]class
}

// table is made on first use; it is the same for all tokenizers.
var table = sync.OnceValue(func() *classes {
	all := make([]class, unicode.MaxRune+1)
	for _, m := range []struct {
		in *unicode.RangeTable
		c  class
	}{
		{unicode.Lu, upper},
		{unicode.Lt, upper},
		{unicode.Ll, lower},
		{unicode.Lm, caseless},
		{unicode.Lo, caseless},
		{unicode.N, digit},
		{unicode.White_Space, space},
		{unicode.M, accent},
		{unicode.P, sign},
		{unicode.S, sign},
		{unicode.Han, han},
		{ranges('\n', '\n'), newline},
		{ranges('\r', '\r'), newline},
		{ranges('A', 'Z'), latin},
		{ranges('a', 'z'), latin},
		{ranges('一', '龥'), kana},
		{ranges('\u3040', '\u30ff'), kana},
	} {
		mark(all, m.in, m.c)
	}
	markLoose(all)
	t := new(classes)
	copy(t.ascii[:], all)
	known := map[[256]class]uint16{}
	for i := range t.block {
		b := [256]class(all[256*i:])
		if _, ok := known[b]; !ok {
			known[b] = uint16(len(t.blocks))
			t.blocks = append(t.blocks, b)
		}
		t.block[i] = known[b]
	}
	return t
})

// ranges is the table of the characters from lo to hi.
func ranges(lo, hi rune) *unicode.RangeTable {
	return &unicode.RangeTable{R32: []unicode.Range32{{Lo: uint32(lo), Hi: uint32(hi), Stride: 1}}}
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
func (t *classes) at(s string, i int) (class, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return t.ascii[c], 1
	}
	return t.wide(s[i:])
}

// wide returns the class of the character that s begins with, which is not
// ASCII, and its width.
func (t *classes) wide(s string) (class, int) {
	if len(s) >= 3 && s[0] < 0xf0 { // the common ones; s is known to be UTF-8
		if s[0] < 0xe0 {
			return t.blocks[t.block[s[0]&0x1f>>2]][s[0]<<6|s[1]&0x3f], 2
		}
		return t.blocks[t.block[s[0]<<4|s[1]&0x3f>>2]][s[1]<<6|s[2]&0x3f], 3
	}
	r, n := utf8.DecodeRuneInString(s)
	return t.blocks[t.block[r>>8]][r&255], n
}

// word returns the end of the characters of any of the classes from s[j] on.
// They include the letters.
func (t *classes) word(s string, j int, of class) int {
	for {
		if j = lettersEnd(s, j); j == len(s) || s[j] < utf8.RuneSelf {
			return j
		}
		for j < len(s) && s[j] >= utf8.RuneSelf {
			c, n := t.wide(s[j:])
			if c&of == 0 {
				return j
			}
			j += n
		}
	}
}

// run returns the end of the characters of any of the classes from s[j] on.
func (t *classes) run(s string, j int, of class) int {
	for j < len(s) {
		c, n := t.at(s, j)
		if c&of == 0 {
			break
		}
		j += n
	}
	return j
}

// runOut returns the end of the characters of none of the classes from s[j]
// on.
func (t *classes) runOut(s string, j int, of class) int {
	for j < len(s) {
		c, n := t.at(s, j)
		if c&of != 0 {
			break
		}
		j += n
	}
	return j
}

// upTo returns the end of most characters of the class from s[j] on, or of
// fewer.
func (t *classes) upTo(s string, j, most int, of class) int {
	for k := 0; k < most && j < len(s); k++ {
		c, n := t.at(s, j)
		if c&of == 0 {
			break
		}
		j += n
	}
	return j
}
