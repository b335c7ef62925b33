package bpe

import (
	"cmp"
	"slices"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// firstMark is the first character that can join to the one before it.
const firstMark = 0x300

// lastLoose is one more than the last character that NFC may change.
const lastLoose = 0x2fa1e

// markLoose sets the classes that compose goes by.
func markLoose(all []class) {
	var buf [utf8.UTFMax]byte
	for r := rune(0xa0); r < lastLoose; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		b := buf[:utf8.EncodeRune(buf[:], r)]
		p := norm.NFC.Properties(b)
		switch {
		case !p.BoundaryBefore():
			all[r] |= loose | joining
		case p.Decomposition() != nil && !norm.NFC.IsNormal(b):
			all[r] |= loose
		}
	}
}

// composer brings text into NFC. It is the memory of that. x/text has only
// the facts of the characters: it allocates for every call, and puts joiners
// (U+034F) into long runs of marks, as its stream-safe form wants, which the
// tokenizers that models were trained with do not.
type composer struct {
	one   []byte // what a few characters become
	parts []part
}

// compose appends text in NFC to dst, or reports false and appends nothing
// when it is as it is. Nearly all text is, and most of the rest nearly
// everywhere, so it looks for the places that may need work.
func (c *composer) compose(dst []byte, text string) (out []byte, changed bool) {
	t, done := table(), 0 // text[:done] is in dst, if that has anything
	for i := 0; ; {
		var n int
		if i, n = t.nextLoose(text, i); i == len(text) {
			break
		}
		from := t.settled(text, i, done)
		i = t.run(text, i+n, joining)
		c.parts = apart(c.parts[:0], text[from:i])
		if c.one = together(c.one[:0], c.parts); string(c.one) == text[from:i] {
			continue
		}
		dst = append(append(dst, text[done:from]...), c.one...)
		done = i
	}
	if done == 0 {
		return dst, false
	}
	return append(dst, text[done:]...), true
}

// nextLoose returns where the next character is that may need work, and its
// width; the end if there is none.
func (t *classes) nextLoose(text string, i int) (at, n int) {
	for {
		if i = asciiEnd(text, i); i == len(text) {
			return i, 0
		}
		for i < len(text) && text[i] >= utf8.RuneSelf {
			c, n := t.wide(text[i:])
			if c&loose != 0 {
				return i, n
			}
			i += n
		}
	}
}

// settled returns where the part begins that the loose character at i may be
// changed with, at done or later.
func (t *classes) settled(text string, i, done int) int {
	for {
		if c, _ := t.at(text, i); c&joining == 0 || i == done {
			return i
		}
		_, n := utf8.DecodeLastRuneInString(text[done:i])
		i -= n
	}
}

// part is a character and its combining class; 0 is a starter.
type part struct {
	r     rune
	class uint8
}

// apart appends the characters of text, composed ones taken apart and runs
// of marks in canonical order. Hangul syllables stay whole: taken apart they
// would be joined again.
func apart(all []part, text string) []part {
	run := 0 // where the marks after the last starter begin
	for len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			order(all[run:])
			all = append(all, part{r: rune(text[0])})
			run = len(all)
			text = text[1:]
			continue
		}
		p := norm.NFD.PropertiesString(text)
		bytes := p.Decomposition()
		if bytes == nil {
			r, _ := utf8.DecodeRuneInString(text)
			if p.CCC() == 0 {
				order(all[run:])
				run = len(all) + 1
			}
			all = append(all, part{r, p.CCC()})
		}
		for len(bytes) > 0 {
			r, n := utf8.DecodeRune(bytes)
			class := norm.NFD.Properties(bytes).CCC()
			if class == 0 {
				order(all[run:])
				run = len(all) + 1
			}
			all = append(all, part{r, class})
			bytes = bytes[n:]
		}
		text = text[p.Size():]
	}
	order(all[run:])
	return all
}

// order sorts marks by class and keeps the order of equals.
func order(marks []part) {
	slices.SortStableFunc(marks, func(a, b part) int { return cmp.Compare(a.class, b.class) })
}

// together appends all to text, each starter joined with the marks after it
// that nothing blocks: a mark is blocked by one between of the same class or a
// higher one. What all holds is gone then.
func together(text []byte, all []part) []byte {
	out := all[:0]
	starter := -1
	for _, p := range all {
		if starter >= 0 && p.r >= firstMark {
			last := out[len(out)-1]
			if len(out)-1 == starter || last.class != 0 && last.class < p.class {
				if r, ok := pairOf(out[starter].r, p.r); ok {
					out[starter].r = r
					continue
				}
			}
		}
		if p.class == 0 {
			starter = len(out)
		}
		out = append(out, p)
	}
	for _, p := range out {
		text = utf8.AppendRune(text, p.r)
	}
	return text
}

// Hangul syllables are joined from letters by arithmetic: Unicode, chapter
// 3.12.
const (
	firstSyllable, syllables = 0xac00, leads * vowels * tails
	firstLead, leads         = 0x1100, 19
	firstVowel, vowels       = 0x1161, 21
	beforeTail, tails        = 0x11a7, 28 // with no tail as one of them
)

// pairOf returns the character that a and b compose to.
func pairOf(a, b rune) (rune, bool) {
	switch lead, vowel, syllable, tail := a-firstLead, b-firstVowel, a-firstSyllable, b-beforeTail; {
	case 0 <= lead && lead < leads && 0 <= vowel && vowel < vowels:
		return firstSyllable + (lead*vowels+vowel)*tails, true
	case 0 <= syllable && syllable < syllables && syllable%tails == 0 && 0 < tail && tail < tails:
		return a + tail, true
	}
	r, ok := composed()[[2]rune{a, b}]
	return r, ok
}

// composed are the pairs of characters that NFC makes one of.
var composed = sync.OnceValue(func() map[[2]rune]rune {
	all := map[[2]rune]rune{}
	for r := rune(0xa0); r < lastLoose; r++ {
		s := string(r)
		apart := norm.NFD.PropertiesString(s).Decomposition()
		if apart == nil || norm.NFC.String(s) != s {
			continue
		}
		second, n := utf8.DecodeLastRune(apart)
		first := []rune(string(norm.NFC.Bytes(apart[:len(apart)-n])))
		if len(first) == 1 {
			all[[2]rune{first[0], second}] = r
		}
	}
	return all
})
