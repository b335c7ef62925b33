package bpe

import "iter"

// splitter cuts text into pieces as a split pattern does. There is one per
// family of patterns, written by hand: a scanner that looks at a few
// characters to choose among the alternatives, which are tried in order.
type splitter interface {
	// stretch returns the end of the stretch that begins at s[i]. What
	// follows a stretch is not seen when it is cut.
	stretch(s string, i int) int
	// next returns where the piece that begins at s[i] ends. s ends where
	// the stretch does.
	next(s string, i int) int
}

// cl100k is the pattern of GPT-4's family:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)      contraction
//	[^\r\n\p{L}\p{N}]?\p{L}+          word
//	\p{N}{1,digits}                   number
//	 ?[^\s\p{L}\p{N}]+[\r\n]*         signs
//	\s*[\r\n]+ | \s+(?!\S) | \s+      blanks
//
// In later Qwen files accents belong to words: word is [\p{L}\p{M}]+, and
// signs are no \p{M}.
type cl100k struct {
	*classes
	digits int   // most digits in one number piece
	word   class // what words are made of
}

// Pieces yields the pieces that text is cut into by Pattern. They join to the
// text again.
func Pieces(text string) iter.Seq[string] {
	p := cl100k{table(), 1, letter}
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

func (p *cl100k) stretch(s string, _ int) int { return len(s) }

func (p *cl100k) next(s string, i int) int {
	c, n := p.at(s, i)
	j := i + n
	switch {
	case c&p.word != 0:
		return p.run(s, j, p.word)
	case c&digit != 0:
		return p.upTo(s, j, p.digits-1, digit)
	case s[i] == '\'':
		if k := contraction(s[j:]); k > 0 {
			return j + k
		}
	}
	if c&newline == 0 && j < len(s) {
		d, m := p.at(s, j)
		if d&p.word != 0 {
			return p.run(s, j+m, p.word)
		}
		if s[i] == ' ' && d&(digit|space) == 0 {
			return p.signs(s, j+m)
		}
	}
	if c&space != 0 {
		return p.blanks(s, i)
	}
	return p.signs(s, j)
}

// signs returns the end of the signs from j on and the line ends after them.
func (p *cl100k) signs(s string, j int) int {
	return lineEnds(s, p.runOut(s, j, p.word|digit|space))
}

// lineEnds returns the end of the line ends from s[j] on.
func lineEnds(s string, j int) int {
	for j < len(s) && (s[j] == '\n' || s[j] == '\r') {
		j++
	}
	return j
}

// blanks returns the end of the piece of white space that begins at i: up to
// the last line end of the run; else the run without its last character,
// which goes with what follows, if anything does.
func (t *classes) blanks(s string, i int) int {
	last, line, j := i, -1, i
	for j < len(s) {
		c, n := t.at(s, j)
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
