package prompt

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// stringEnd finds the closing quote of the JSON string whose content begins
// at i, and tells whether it holds escapes; −1 when it does not close.
func stringEnd(s []byte, i int) (end int, escaped bool) {
	quote := i - 1
	for i <= len(s) {
		if quote < i {
			n := bytes.IndexByte(s[i:], '"')
			if n < 0 {
				return -1, false
			}
			quote = i + n
		}
		e := bytes.IndexByte(s[i:quote], '\\')
		if e < 0 {
			return quote, escaped
		}
		escaped = true
		i += e + 2
	}
	return -1, false
}

// appendUnescaped appends the content s of a JSON string without its escapes.
// Half a surrogate pair reads as U+FFFD, an unknown escape as it stands.
func appendUnescaped(dst, s []byte) []byte {
	for {
		n := bytes.IndexByte(s, '\\')
		if n < 0 || n+1 >= len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:n]...)
		s = s[n:]
		switch s[1] {
		case '"', '\\', '/':
			dst = append(dst, s[1])
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			var r rune
			r, s = unescapedRune(s)
			dst = utf8.AppendRune(dst, r)
			continue
		default:
			dst = append(dst, s[:2]...)
		}
		s = s[2:]
	}
}

// unescapedRune reads a \u escape, or two that are a pair, from the start of
// s and returns what follows.
func unescapedRune(s []byte) (rune, []byte) {
	r, ok := hexRune(s)
	if !ok {
		return utf8.RuneError, s[2:]
	}
	s = s[6:]
	if utf16.IsSurrogate(r) {
		low, ok := hexRune(s)
		if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
			return pair, s[6:]
		}
		return utf8.RuneError, s
	}
	return r, s
}

// hexRune reads \uXXXX.
func hexRune(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
