package bpe

// gpt2 is the pattern of GPT-2:
//
//	's|'t|'re|'ve|'m|'ll|'d           contraction, as it is written
//	 ?\p{L}+ |  ?\p{N}+               word, number
//	 ?[^\s\p{L}\p{N}]+                signs
//	\s+(?!\S) | \s+                   blanks
//
// With apart, every digit is cut out first: the pieces before it end there.
type gpt2 struct {
	*classes
	apart bool
}

func (p *gpt2) stretch(s string, i int) int {
	if !p.apart {
		return len(s)
	}
	if c, n := p.at(s, i); c&digit != 0 {
		return i + n
	}
	return p.runOut(s, i, digit)
}

func (p *gpt2) next(s string, i int) int {
	c, n := p.at(s, i)
	j := i + n
	if s[i] == '\'' {
		if k := contraction(s[j:]); k > 0 && plain(s[j:j+k]) {
			return j + k
		}
	}
	if s[i] == ' ' && j < len(s) {
		if d, m := p.at(s, j); d&space == 0 {
			c, j = d, j+m
		}
	}
	switch {
	case c&letter != 0:
		return p.word(s, j, letter)
	case c&digit != 0:
		return p.run(s, j, digit)
	case c&space == 0:
		return p.runOut(s, j, letter|digit|space)
	}
	return p.gap(s, i)
}

// gap returns the end of the white space from i on, without its last
// character if something follows that it can go with.
func (t *classes) gap(s string, i int) int {
	last, j := i, i
	for j < len(s) {
		c, n := t.at(s, j)
		if c&space == 0 {
			break
		}
		last = j
		j += n
	}
	if j == len(s) || last == i {
		return j
	}
	return last
}

// plain says whether s is small ASCII letters only.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}
