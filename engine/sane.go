package engine

import (
	"strings"
	"unicode"
)

// What a server may tell of itself: the longest block that an index is made
// for, in tokens, and the longest name that is shown, in bytes.
const (
	mostBlock = 1 << 16
	mostName  = 256
)

// sane is what a probe saw without what cannot be, so that nobody behind it
// has to ask: numbers below none are not known, and names can be shown.
func sane(s Seen) Seen {
	c := &s.Caps
	for _, n := range []*int{&c.Context, &c.BlockSize, &c.KVTokens, &c.MaxSeqs, &c.MaxBatched} {
		*n = max(*n, 0)
	}
	if c.BlockSize > mostBlock {
		c.BlockSize = 0
	}
	c.Model, c.Engine = shown(c.Model), shown(c.Engine)
	return s
}

// shown is a name as a terminal can show it.
func shown(name string) string {
	if len(name) > mostName {
		name = name[:mostName]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, ""))
}
