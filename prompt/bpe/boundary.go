package bpe

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// longMark is the longest added token, in bytes, of a file in which
// boundaries are looked for.
const longMark = 1024

// Boundary says whether text may be cut at byte i without changing an id: the
// ids of text[:i], and after them the ids of text[i:], are the ids of text.
// That is so at both ends, and where an added token begins or ends that no
// other one overlaps and no white space goes with. True is sure; false may be
// too careful. It looks only at what is next to the cut, and allocates nothing.
func (t *Tokenizer) Boundary(text []byte, i int) bool {
	if i <= 0 || i >= len(text) {
		return i == 0 || i == len(text)
	}
	e := t.edges()
	left, right := text[max(0, i-e.most):i], text[i:min(i+e.most, len(text))]
	if !e.calm(left, right) {
		return false
	}
	return tokenAt(&e.ahead, right) != nil || e.after(left) && (t.lead != leadFirst || right[0] == ' ')
}

// edges are the added tokens at whose ends a text may be cut: nothing in the
// file can keep them from being found.
type edges struct {
	ahead, back matcher // the tokens, and the same spelled backwards
	most        int     // how far around a cut to look, in bytes
	strips      bool    // some added token takes the white space beside it
	words       bool    // some added token wants no word beside it
}

// calm says whether no added token near the cut is seen otherwise when left
// and right are apart.
func (e *edges) calm(left, right []byte) bool {
	before, _ := utf8.DecodeLastRune(left)
	after, _ := utf8.DecodeRune(right)
	return !(e.strips && (unicode.IsSpace(before) || unicode.IsSpace(after))) && !(e.words && (inWord(before) || inWord(after)))
}

// after says whether one of the tokens ends where left does.
func (e *edges) after(left []byte) bool {
	if e.back.from[left[len(left)-1]].hi == 0 {
		return false
	}
	var buf [64]byte
	turned := append(buf[:0], left...)
	slices.Reverse(turned)
	return tokenAt(&e.back, turned) != nil
}

// findEdges finds the added tokens that stand for themselves wherever they
// are. Those that are looked for in normalised text are among them only if
// normalising changes nothing.
func (t *Tokenizer) findEdges() *edges {
	e := &edges{most: utf8.UTFMax}
	all := slices.Clone(t.raw.tokens)
	if len(t.steps) == 0 && t.lead == leadNone {
		all = append(all, t.normal.tokens...)
	}
	m := newMatcher(all)
	for _, a := range slices.Concat(t.raw.tokens, t.normal.tokens) {
		e.strips = e.strips || a.LStrip || a.RStrip
		e.words = e.words || a.SingleWord
		e.most = max(e.most, len(a.Content))
	}
	if e.most > longMark {
		return &edges{most: utf8.UTFMax}
	}
	hidden := m.overlapped()
	var ahead, back []added
	for i, a := range m.tokens {
		first, _ := utf8.DecodeRuneInString(a.Content)
		if hidden[i] || a.SingleWord || e.strips && unicode.IsSpace(first) {
			continue
		}
		ahead = append(ahead, a)
		turned := []byte(a.Content)
		slices.Reverse(turned)
		a.Content = string(turned)
		back = append(back, a)
	}
	e.ahead, e.back = newMatcher(ahead), newMatcher(back)
	return e
}

// overlapped says which tokens another one may hide: one that begins before
// it in the text and reaches into it, one that begins with it and is longer,
// or, of two kinds that overlap in any way, one that is looked for first.
func (m *matcher) overlapped() []bool {
	hidden := make([]bool, len(m.tokens))
	var by [2][]int // how many ranges that a raw token hides, and another, begin less end here
	by[0], by[1] = make([]int, len(m.tokens)+1), make([]int, len(m.tokens)+1)
	raw := make([]int, len(m.tokens)+1) // how many tokens before this one are raw
	for i, a := range m.tokens {
		raw[i+1] = raw[i]
		if !a.Normalized {
			raw[i+1]++
		}
	}
	for i, a := range m.tokens {
		from := by[0]
		if a.Normalized {
			from = by[1]
		}
		for k := range len(a.Content) {
			m.meet(a.Content[k:], func(lo, hi int, inside bool) {
				if k == 0 && (!inside || lo == i) {
					return // itself, or one that will see it as this one sees others
				}
				from[lo]++
				from[hi]--
				hidden[i] = hidden[i] || a.Normalized && raw[hi] > raw[lo]
			})
		}
	}
	byRaw, byOther := 0, 0
	for i, a := range m.tokens {
		byRaw, byOther = byRaw+by[0][i], byOther+by[1][i]
		hidden[i] = hidden[i] || byRaw > 0 || a.Normalized && byOther > 0
	}
	return hidden
}

// meet calls found with the places of the tokens that s begins with, and of
// those, longer than s, that begin with s.
func (m *matcher) meet(s string, found func(lo, hi int, inside bool)) {
	r := m.from[s[0]]
	lo, left := int(r.lo), m.tokens[r.lo:r.hi]
	for n := 1; len(left) > 0; n++ {
		for len(left) > 0 && len(left[0].Content) == n {
			found(lo, lo+1, true)
			lo, left = lo+1, left[1:]
		}
		if n == len(s) {
			found(lo, lo+len(left), false)
			return
		}
		left = narrow(left, n, s[n])
		if len(left) > 0 {
			lo, _ = slices.BinarySearchFunc(m.tokens, left[0], byContent)
		}
	}
}
