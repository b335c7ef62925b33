package bpe

// deepseek is DeepSeek-V3's split in three stages. First digits are cut out,
// in threes, then runs of Chinese and Japanese characters; what is between is
// cut by
//
//	[!-/:-~][A-Za-z]+ | [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
//	 ?[\p{P}\p{S}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//
// and what none of these matches is a piece too.
type deepseek struct{ *classes }

func (p *deepseek) stretch(s string, i int) int {
	c, n := p.at(s, i)
	switch {
	case c&digit != 0:
		return p.upTo(s, i+n, 2, digit)
	case c&kana != 0:
		return p.run(s, i+n, kana)
	}
	for i += n; ; i += n {
		if i = noDigitsEnd(s, i); i == len(s) {
			return i
		}
		if c, n = p.at(s, i); c&(digit|kana) != 0 {
			return i
		}
	}
}

func (p *deepseek) next(s string, i int) int {
	if j := p.match(s, i); j > i {
		return j
	}
	_, n := p.at(s, i)
	for i += n; i < len(s); i += n {
		if p.match(s, i) > i {
			break
		}
		_, n = p.at(s, i)
	}
	return i
}

// match returns the end of what the pattern matches at i, or -1.
func (p *deepseek) match(s string, i int) int {
	c, n := p.at(s, i)
	j := i + n
	if c&sign != 0 && n == 1 && j < len(s) {
		if d, _ := p.at(s, j); d&latin != 0 {
			return lettersEnd(s, j)
		}
	}
	if c&(letter|accent) != 0 {
		return p.word(s, j, letter|accent)
	}
	if j < len(s) && c&(newline|sign) == 0 {
		if d, m := p.at(s, j); d&(letter|accent) != 0 {
			return p.word(s, j+m, letter|accent)
		}
	}
	if s[i] == ' ' && j < len(s) {
		if d, _ := p.at(s, j); d&sign != 0 {
			c = d
		}
	}
	if c&sign != 0 {
		return lineEnds(s, p.run(s, j, sign))
	}
	if c&space != 0 {
		return p.blanks(s, i)
	}
	return -1
}
