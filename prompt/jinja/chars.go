package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace is Python's str.isspace of a character.
func isSpace(c rune) bool {
	switch {
	case c <= ' ':
		return c == ' ' || c >= '\t' && c <= '\r' || c >= 0x1c && c <= 0x1f
	case c < 0x85:
		return false
	}
	return c == 0x85 || c == 0xa0 || c > 0xff && unicode.Is(unicode.Z, c)
}

func isAlnum(c rune) bool { return unicode.IsLetter(c) || unicode.Is(unicode.N, c) }

// isDigit is a character that int() or a superscript would take.
func isDigit(c rune) bool {
	return unicode.Is(unicode.Nd, c) || c == '²' || c == '³' || c == '¹' || c == '⁰' || c >= '⁴' && c <= '⁹' || c >= '₀' && c <= '₉'
}

// wide are the letters whose upper case is more than one character.
var wide = strings.NewReplacer(
	"ß", "SS", "ŉ", "ʼN", "ǰ", "J̌", "ΐ", "Ϊ́", "ΰ", "Ϋ́", "և", "ԵՒ", "ẖ", "H̱", "ẗ", "T̈", "ẘ", "W̊", "ẙ", "Y̊", "ẚ", "Aʾ",
	"ﬀ", "FF", "ﬁ", "FI", "ﬂ", "FL", "ﬃ", "FFI", "ﬄ", "FFL", "ﬅ", "ST", "ﬆ", "ST", "ﬓ", "ՄՆ", "ﬔ", "ՄԵ", "ﬕ", "ՄԻ", "ﬖ", "ՎՆ", "ﬗ", "ՄԽ",
)

func upper(s string) string {
	if !isASCII(s) {
		s = wide.Replace(s)
	}
	return strings.ToUpper(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower is Python's: the capital sigma at a word's end has a form of its own,
// and the dotted capital I keeps its dot.
func lower(s string) string {
	if !strings.ContainsAny(s, "Σİ") {
		return strings.ToLower(s)
	}
	s = strings.ReplaceAll(s, "İ", "i̇")
	var b strings.Builder
	before := rune(0)
	for i, c := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(max(c, 0)):])
		if c == 'Σ' && unicode.IsLetter(before) && !unicode.IsLetter(next) {
			b.WriteRune('ς')
		} else {
			b.WriteString(strings.ToLower(string(c)))
		}
		before = c
	}
	return b.String()
}

func titleChar(s string) string {
	switch s {
	case "ß":
		return "Ss"
	case "ﬀ":
		return "Ff"
	case "ﬁ":
		return "Fi"
	case "ﬂ":
		return "Fl"
	}
	c, _ := utf8.DecodeRuneInString(s)
	return string(unicode.ToTitle(c))
}

func capitalize(s string) string {
	if s == "" {
		return s
	}
	_, n := utf8.DecodeRuneInString(s)
	return titleChar(s[:n]) + lower(s[n:])
}

// titleWords is the filter title, which sees words between white space,
// dashes and opening brackets.
func titleWords(s string) string {
	var b strings.Builder
	for s != "" {
		n := strings.IndexFunc(s, wordBreak)
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			_, first := utf8.DecodeRuneInString(s)
			b.WriteString(upper(s[:first]))
			b.WriteString(lower(s[first:n]))
		}
		s = s[n:]
		for s != "" {
			c, n := utf8.DecodeRuneInString(s)
			if !wordBreak(c) {
				break
			}
			b.WriteString(s[:n])
			s = s[n:]
		}
	}
	return b.String()
}

func wordBreak(c rune) bool { return isSpace(c) || strings.ContainsRune("-({[<", c) }

// titleText is str.title(), which sees words between all that are no letters.
func titleText(s string) string {
	var b strings.Builder
	inside := false
	for _, c := range s {
		if inside {
			b.WriteString(lower(string(c)))
		} else {
			b.WriteString(titleChar(string(c)))
		}
		inside = unicode.IsLetter(c)
	}
	return b.String()
}

func swapcase(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsUpper(c) {
			b.WriteString(lower(string(c)))
		} else {
			b.WriteString(upper(string(c)))
		}
	}
	return b.String()
}

// splitLines is str.splitlines.
func splitLines(s string, keep bool) []string {
	var out []string
	for s != "" {
		n := strings.IndexFunc(s, func(c rune) bool {
			return c >= '\n' && c <= '\r' || c >= 0x1c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
		})
		if n < 0 {
			return append(out, s)
		}
		_, size := utf8.DecodeRuneInString(s[n:])
		if strings.HasPrefix(s[n:], "\r\n") {
			size = 2
		}
		if keep {
			out = append(out, s[:n+size])
		} else {
			out = append(out, s[:n])
		}
		s = s[n+size:]
	}
	return out
}

// every reports whether a text has characters and each passes.
func every(s string, pass func(rune) bool) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return !pass(c) }) < 0
}

// cased reports whether a text has letters of the one case and none of the
// other.
func cased(s string, want, not func(rune) bool) bool {
	return strings.IndexFunc(s, want) >= 0 && strings.IndexFunc(s, not) < 0
}
