package bpe

// o200k is the pattern of GPT-4o's family, which ends a word where a capital
// follows a small letter:
//
//	[^\r\n\p{L}\p{N}]?[Lu Lt Lm Lo M]*[Ll Lm Lo M]+(?i:'s|…)?
//	[^\r\n\p{L}\p{N}]?[Lu Lt Lm Lo M]+[Ll Lm Lo M]*(?i:'s|…)?
//	\p{N}{1,digits}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+ | \s+(?!\S) | \s+
//
// In Kimi's form runs of Han characters are pieces, tried first, and words
// have none.
type o200k struct {
	*classes
	digits       int
	contractions bool  // the word takes one
	slash        bool  // signs take slashes with the line ends after them
	apart        class // runs of these are pieces, and no part of words
}

func (p *o200k) stretch(s string, _ int) int { return len(s) }

func (p *o200k) next(s string, i int) int {
	c, n := p.at(s, i)
	if c&p.apart != 0 {
		return p.run(s, i+n, p.apart)
	}
	if c&(newline|digit) == 0 {
		if j := p.word(s, i, c, n); j > i {
			return j
		}
	}
	switch {
	case c&digit != 0:
		return p.upTo(s, i+n, p.digits-1, digit)
	case c&(space|letter) == 0:
		return p.signs(s, i+n)
	case s[i] == ' ' && i+1 < len(s):
		if d, m := p.at(s, i+1); d&(space|letter|digit) == 0 {
			return p.signs(s, i+1+m)
		}
	}
	return p.blanks(s, i)
}

// word returns the end of the word that begins at i, with one character
// before its letters if that is no letter itself, or -1. c and n are the
// class and width of the character at i.
func (p *o200k) word(s string, i int, c class, n int) int {
	j := -1
	if c&letter == 0 {
		j = p.small(s, i+n)
	}
	if j < 0 {
		j = p.small(s, i)
	}
	if j < 0 && c&letter == 0 {
		j = p.capitals(s, i+n)
	}
	if j < 0 {
		j = p.capitals(s, i)
	}
	if j >= 0 && j < len(s) && s[j] == '\'' && p.contractions {
		if k := contraction(s[j+1:]); k > 0 {
			return j + 1 + k
		}
	}
	return j
}

// small returns the end of what the first alternative's letters match from j
// on: as many capitals as leave one that may be small, then all that may be
// small. -1 if there is no such one.
func (p *o200k) small(s string, j int) int {
	end := -1
	for j < len(s) {
		c, n := p.at(s, j)
		if c&p.apart != 0 {
			break
		}
		if c&lower != 0 {
			return p.tail(s, j+n)
		}
		if c&(upper|caseless|accent) == 0 {
			break
		}
		j += n
		if c&upper == 0 {
			end = j
		}
	}
	return end
}

// tail returns the end of the characters from j on that may be small.
func (p *o200k) tail(s string, j int) int {
	for j = smallsEnd(s, j); j < len(s); {
		c, n := p.at(s, j)
		if c&(lower|caseless|accent) == 0 || c&p.apart != 0 {
			break
		}
		j += n
	}
	return j
}

// capitals returns the end of the characters from j on that may be capitals,
// none of which may be small, or -1. What may be small after them the first
// alternative would have taken.
func (p *o200k) capitals(s string, j int) int {
	end := p.run(s, j, upper)
	if end == j {
		return -1
	}
	return end
}

// signs returns the end of the signs from j on and the line ends after them.
func (p *o200k) signs(s string, j int) int {
	j = p.runOut(s, j, letter|digit|space)
	if !p.slash {
		return lineEnds(s, j)
	}
	for j < len(s) && (s[j] == '\n' || s[j] == '\r' || s[j] == '/') {
		j++
	}
	return j
}
