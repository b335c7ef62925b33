package bpe

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// manyMarks is a run of marks after which x/text may put a joiner (U+034F)
// into the text, as its stream-safe form wants. The tokenizers that models
// were trained with do not.
const manyMarks = 12

// firstMark is the first character that can join to the one before it.
const firstMark = 0x300

// compose returns text in NFC.
func compose(text string) string {
	switch {
	case norm.NFC.QuickSpanString(text) == len(text):
		return text
	case hasManyMarks(text):
		return together(apart(text))
	}
	return norm.NFC.String(text)
}

// hasManyMarks says whether text has a run of manyMarks.
func hasManyMarks(text string) bool {
	t, run := table(), 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			run, i = 0, i+1
			continue
		}
		c, n := t.wide(text[i:])
		if c&accent == 0 || norm.NFC.PropertiesString(text[i:]).CCC() == 0 {
			run = 0
		} else if run++; run == manyMarks {
			return true
		}
		i += n
	}
	return false
}

// part is a character and its combining class; 0 is a starter.
type part struct {
	r     rune
	class uint8
}

// apart returns the characters of text, composed ones taken apart and runs
// of marks in canonical order. Hangul syllables stay whole: taken apart they
// would be joined again.
func apart(text string) []part {
	all := make([]part, 0, len(text))
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
			bytes = []byte(text[:p.Size()])
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

// together joins each starter with the marks after it that nothing blocks: a
// mark is blocked by one between of the same class or a higher one.
func together(all []part) string {
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
	text := make([]byte, 0, 2*len(out))
	for _, p := range out {
		text = utf8.AppendRune(text, p.r)
	}
	return string(text)
}

// pairOf returns the character that a and b compose to.
func pairOf(a, b rune) (rune, bool) {
	var in, out [2 * utf8.UTFMax]byte
	two := utf8.AppendRune(utf8.AppendRune(in[:0], a), b)
	one := norm.NFC.Append(out[:0], two...)
	r, n := utf8.DecodeRune(one)
	return r, n == len(one)
}
