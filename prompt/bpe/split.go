package bpe

import "iter"

// splitter cuts text into pieces by the cl100k family's pattern:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)      contraction
//	[^\r\n\p{L}\p{N}]?\p{L}+          word
//	\p{N}{1,digits}                   number
//	 ?[^\s\p{L}\p{N}]+[\r\n]*         signs
//	\s*[\r\n]+ | \s+(?!\S) | \s+      blanks
//
// Alternatives are tried in this order at each place, so the scanner looks at
// no more than three characters to choose one.
type splitter struct {
	table  []class
	digits int // most digits in one number piece
}

// Pieces yields the pieces that text is cut into by Pattern. They join to the
// text again.
func Pieces(text string) iter.Seq[string] {
	p := splitter{table: classes(), digits: 1}
	return func(yield func(string) bool) {
		for i := 0; i < len(text); {
			j := p.next(text, i)
			if !yield(text[i:j]) {
				return
			}
			i = j
		}
	}
}

// next returns where the piece that begins at s[i] ends.
func (p *splitter) next(s string, i int) int {
	c, n := at(p.table, s, i)
	j := i + n
	switch {
	case c&letter != 0:
		return p.word(s, j)
	case c&digit != 0:
		return p.number(s, j)
	case s[i] == '\'':
		if k := contraction(s[j:]); k > 0 {
			return j + k
		}
	}
	if c&newline == 0 && j < len(s) {
		d, m := at(p.table, s, j)
		if d&letter != 0 {
			return p.word(s, j+m)
		}
		if s[i] == ' ' && d == 0 {
			return p.signs(s, j+m)
		}
	}
	if c&space != 0 {
		return p.blanks(s, i)
	}
	return p.signs(s, j)
}

// word returns the end of the letters from j on.
func (p *splitter) word(s string, j int) int {
	for j < len(s) {
		c, n := at(p.table, s, j)
		if c&letter == 0 {
			break
		}
		j += n
	}
	return j
}

// number returns the end of a number whose second digit would be at j.
func (p *splitter) number(s string, j int) int {
	for k := 1; k < p.digits && j < len(s); k++ {
		c, n := at(p.table, s, j)
		if c&digit == 0 {
			break
		}
		j += n
	}
	return j
}

// signs returns the end of the signs from j on and the line ends after them.
func (p *splitter) signs(s string, j int) int {
	for j < len(s) {
		c, n := at(p.table, s, j)
		if c != 0 {
			break
		}
		j += n
	}
	for j < len(s) && (s[j] == '\n' || s[j] == '\r') {
		j++
	}
	return j
}

// blanks returns the end of the piece of white space that begins at i: up to
// the last line end of the run; else the run without its last character,
// which goes with what follows, if anything does.
func (p *splitter) blanks(s string, i int) int {
	last, line, j := i, -1, i
	for j < len(s) {
		c, n := at(p.table, s, j)
		if c&space == 0 {
			break
		}
		if c&newline != 0 {
			line = j + n
		}
		last = j
		j += n
	}
	switch {
	case line >= 0:
		return line
	case j == len(s) || last == i:
		return j
	}
	return last
}

// contraction returns the length of 's, 't, 're, 've, 'm, 'll or 'd in any
// case, without the apostrophe, that s begins with, or 0. The long s (U+017F)
// folds to s.
func contraction(s string) int {
	if len(s) == 0 {
		return 0
	}
	switch s[0] | 0x20 {
	case 's', 't', 'm', 'd':
		return 1
	case 'r', 'v':
		if len(s) > 1 && s[1]|0x20 == 'e' {
			return 2
		}
	case 'l':
		if len(s) > 1 && s[1]|0x20 == 'l' {
			return 2
		}
	}
	if len(s) > 1 && s[:2] == "ſ" {
		return 2
	}
	return 0
}
