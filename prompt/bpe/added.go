package bpe

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// added is an added token as the file describes it.
type added struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only where no word continues
	LStrip     bool   `json:"lstrip"`      // takes the white space before it
	RStrip     bool   `json:"rstrip"`      // takes the white space after it
	Normalized bool   `json:"normalized"`  // matched after normalisation
	Special    bool   `json:"special"`
}

// matcher finds added tokens in text: the leftmost one, the longest of those
// that begin at the same place. The zero value finds none.
type matcher struct {
	tokens []added // sorted by content
	from   [256]struct{ lo, hi int32 }
	first  []byte // the bytes that tokens begin with
}

// nothing is what EncodeText looks for.
var nothing matcher

// match is an added token in a text, with the white space it takes.
type match struct {
	start, end int
	id         uint32
}

// newMatcher returns a matcher of the tokens, whose contents are not empty.
func newMatcher(tokens []added) matcher {
	m := matcher{tokens: slices.Clone(tokens)}
	slices.SortStableFunc(m.tokens, byContent)
	for i, a := range m.tokens {
		r := &m.from[a.Content[0]]
		if r.hi == 0 {
			r.lo = int32(i)
			m.first = append(m.first, a.Content[0])
		}
		r.hi = int32(i + 1)
	}
	return m
}

func byContent(a, b added) int { return strings.Compare(a.Content, b.Content) }

// next finds the first token in s at or after from.
func (m *matcher) next(s string, from int) (match, bool) {
	for i := m.candidate(s, from); i >= 0; i = m.candidate(s, i) {
		a := tokenAt(m, s[i:])
		if a == nil {
			i++
			continue
		}
		end := i + len(a.Content)
		if a.SingleWord && (endsInWord(s[:i]) || beginsInWord(s[end:])) {
			i = end
			continue
		}
		if a.LStrip {
			i = from + len(strings.TrimRightFunc(s[from:i], unicode.IsSpace))
		}
		if a.RStrip {
			end = len(s) - len(strings.TrimLeftFunc(s[end:], unicode.IsSpace))
		}
		return match{i, end, uint32(a.ID)}, true
	}
	return match{}, false
}

// candidate returns the first place at or after i where a token may begin,
// or -1.
func (m *matcher) candidate(s string, i int) int {
	if len(m.first) == 1 {
		if k := strings.IndexByte(s[i:], m.first[0]); k >= 0 {
			return i + k
		}
		return -1
	}
	if len(m.first) == 0 {
		return -1
	}
	for ; i < len(s); i++ {
		if m.from[s[i]].hi > 0 {
			return i
		}
	}
	return -1
}

// tokenAt returns the longest token that s begins with, or nil. The tokens
// are sorted: those that agree with s so far are neighbours, the shortest
// first, and each further byte narrows them.
func tokenAt[S string | []byte](m *matcher, s S) (found *added) {
	r := m.from[s[0]]
	left := m.tokens[r.lo:r.hi]
	for n := 1; len(left) > 0; n++ {
		for len(left) > 0 && len(left[0].Content) == n {
			found, left = &left[0], left[1:]
		}
		if n == len(s) {
			break
		}
		left = narrow(left, n, s[n])
	}
	return found
}

// narrow keeps the tokens whose byte at n is b. All are longer than n.
func narrow(tokens []added, n int, b byte) []added {
	if len(tokens) == 0 {
		return nil
	}
	if first, last := tokens[0].Content[n], tokens[len(tokens)-1].Content[n]; first == last {
		if first != b {
			return nil
		}
		return tokens
	}
	tokens = tokens[below(tokens, n, int(b)):]
	return tokens[:below(tokens, n, int(b)+1)]
}

// below returns how many of the tokens have a byte at n that is less than b.
func below(tokens []added, n, b int) int {
	lo, hi := 0, len(tokens)
	for lo < hi {
		if mid := (lo + hi) / 2; int(tokens[mid].Content[n]) < b {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// endsInWord says whether a word could go on after s.
func endsInWord(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && inWord(r)
}

// beginsInWord says whether s could continue a word.
func beginsInWord(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && inWord(r)
}

func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}
