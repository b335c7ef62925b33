package bpe

import (
	"slices"
	"unicode/utf8"
)

// chars tells which characters of a byte-level file a merge may begin with,
// instead of with their bytes. A character becomes its own token first, and
// then takes part as that, if
//
//   - alone it becomes one token,
//   - no merge joins a part of it to what is beside it, and
//   - all merges that take its token are due after those that make it.
//
// The first and the last are known of the token, the second goes by the bytes
// on both sides of the character's ends.
type chars struct {
	torn   [256][256 / 64]uint64 // pairs of bytes where a part may be joined
	ready  []uint64              // tokens of characters for which the others hold
	joints *joints               // pairs of characters that may be joined; nil if some have no token
}

// newChars looks through the merges, which t knows already.
func newChars(t *Tokenizer, merges []join) *chars {
	p := t.pieces
	c := &chars{ready: make([]uint64, len(p.at)/64+1)}
	if !slices.Contains(t.bytes[:utf8.RuneSelf], noToken) {
		c.joints = newJoints()
	}
	made := make([]uint32, len(p.at)) // one more than the last rank that makes a token
	for _, m := range merges {
		made[m.joined] = max(made[m.joined], m.rank+1)
		left, right := p.spell(m.left), p.spell(m.right)
		switch {
		case !utf8.RuneStart(right[0]):
		case !utf8.RuneStart(left[0]) && onlyParts(left) || len(right) < width(right[0]):
			last := left[len(left)-1]
			c.torn[last][right[0]/64] |= 1 << (right[0] % 64)
		case c.joints != nil:
			c.joints.add(left, right)
		}
	}
	early := make([]bool, len(p.at)) // some merge takes it before another makes it
	for _, m := range merges {
		early[m.left] = early[m.left] || made[m.left] > m.rank
		early[m.right] = early[m.right] || made[m.right] > m.rank
	}
	var w work
	var alone []uint32
	for id := range uint32(len(p.at)) {
		s := p.spell(id)
		if len(s) < 2 || len(s) != width(s[0]) || early[id] || p.at[id].is&literal != 0 {
			continue
		}
		if alone = t.mergeShort(alone[:0], &w, s); len(alone) == 1 && alone[0] == id {
			c.ready[id/64] |= 1 << (id % 64)
		}
	}
	return c
}

// onlyParts says whether no character begins in s.
func onlyParts(s string) bool {
	for i := range len(s) {
		if utf8.RuneStart(s[i]) {
			return false
		}
	}
	return true
}

// width is the length of the character that begins with b.
func width(b byte) int {
	switch {
	case b < 0xc0:
		return 1
	case b < 0xe0:
		return 2
	case b < 0xf0:
		return 3
	}
	return 4
}

// whole says whether no merge joins a part of a character to what is beside
// it at s[i], where it begins or ends.
func (c *chars) whole(s string, i int) bool {
	return i == 0 || i == len(s) || c.torn[s[i-1]][s[i]/64]>>(s[i]%64)&1 == 0
}

// apart returns the end of the part of s that begins at i and that no merge
// joins to what follows.
func (c *chars) apart(s string, i int) int {
	left, n := utf8.DecodeRuneInString(s[i:])
	for i += n; i < len(s); i += n {
		var right rune
		right, n = utf8.DecodeRuneInString(s[i:])
		if utf8.RuneStart(s[i]) && c.whole(s, i) && !c.joints.joined(left, right) {
			return i
		}
		left = right
	}
	return i
}

// begin sets ids to the tokens that merging s begins with and ranks to the
// ranks of each and the next. It returns how many they are.
func (t *Tokenizer) begin(ids, ranks []uint32, s string) (n int) {
	bytes := false // the last token is a byte's
	for i := 0; i < len(s); {
		id, size := t.character(s, i)
		if id == noToken { // the tokens on both sides are neighbours, as in the reference
			bytes, i = false, i+1
			continue
		}
		switch {
		case n == 0:
		case bytes && size == 1:
			ranks[n-1] = t.pairs.ofBytes(s[i-1], s[i])
		default:
			ranks[n-1] = t.pairs.find(ids[n-1], id)
		}
		ids[n], bytes = id, size == 1
		n, i = n+1, i+size
	}
	return n
}

// character returns the token that merging s begins with at i, and its length.
func (t *Tokenizer) character(s string, i int) (id uint32, size int) {
	n := width(s[i])
	if n == 1 || i+n > len(s) || t.chars == nil || !t.chars.whole(s, i) || !t.chars.whole(s, i+n) {
		return t.bytes[s[i]], 1
	}
	if e := t.pieces.find(s[i : i+n]); e != nil {
		if id := e.id(); t.chars.ready[id/64]>>(id%64)&1 != 0 {
			return id, n
		}
	}
	return t.bytes[s[i]], 1
}
