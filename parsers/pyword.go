package parsers

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// maxWord is the longest value without quotes, in bytes.
const maxWord = 1024

// word reads a value without quotes up to where it ends.
func (v *pyValue) word(b []byte, last bool) (int, bool) {
	n, said := v.wordEnd(b, last)
	if said == wait {
		return 0, false
	}
	v.item()
	w := trimEnd(b[:n])
	switch {
	case len(w) == 0:
		v.out = append(v.out, "null"...)
		v.flaws |= turn.Repaired
	default:
		var ok bool
		if v.out, ok = appendPyLiteral(v.out, w); !ok {
			v.out = appendString(v.out, w)
			v.flaws |= turn.Repaired
		}
	}
	v.ended()
	v.off = n >= maxWord
	return n, true
}

// wordEnd finds where a value without quotes ends. A literal ends at the first
// mark of the syntax; text may hold commas, and what stands in parentheses.
func (v *pyValue) wordEnd(b []byte, last bool) (int, guess) {
	depth := 0
	n := bareRun(b)
	if n < len(b) && n > 0 && n < maxWord && (b[n] == ')' || b[n] == ']' || b[n] == '}' || b[n] == ',' && len(v.stack) > 0) {
		return n, yes
	}
	for ; n < min(len(b), maxWord); n++ {
		c, said := b[n], no
		switch {
		case c == '(' || c == '[' || c == '{':
			depth++
		case depth > 0 && (c == ')' || c == ']' || c == '}'):
			depth--
		case depth > 0:
		case c == ')' || c == ']' || c == '}':
			said = yes
		case c == ':' && len(v.stack) > 0, c == '=' && v.at == pyItem && v.outer():
			said = yes
		case c == ',' && len(v.stack) > 0, c == ',' && isPyLiteral(b[:n]):
			said = yes
		case c == ',':
			said = v.anotherArg(b[n+1:], last)
		case isSpace(c) && n > 0 && isPyLiteral(b[:n]):
			said = v.missing(b[n:], last)
		}
		if said == no && v.scope.stop[c] {
			_, said = v.mark(b[n:], last)
		}
		if said != no {
			return n, said
		}
	}
	if len(b) < maxWord && !last {
		return 0, wait
	}
	return min(len(b), maxWord), yes
}

// bareRun is how many bytes of a number or word b begins with.
func bareRun(b []byte) int {
	n := 0
	for n < len(b) && isBare(b[n]) {
		n++
	}
	return n
}

// missing says whether a comma is missing before b: another value stands
// behind the white space there, or the key of another argument.
func (v *pyValue) missing(b []byte, last bool) guess {
	if len(v.stack) > 0 {
		return valueFollows(b, last)
	}
	_, said := named(trimmed(b), last, v.scope.colons)
	if said == wait && len(b) > maxAhead {
		return no
	}
	return said
}

// valueFollows says whether another value stands behind white space, so that a
// comma is missing.
func valueFollows(b []byte, last bool) guess {
	c, here, said := look(b, last)
	if said == yes && (len(here) == 0 || !begins(c) || isLetter(c)) {
		return no
	}
	return said
}

// trimEnd is b without white space at its end.
func trimEnd(b []byte) []byte {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// isPyLiteral reports whether w is a number or a word of Python or JSON.
func isPyLiteral(w []byte) bool {
	var buf [64]byte
	_, ok := appendPyLiteral(buf[:0], trimEnd(w))
	return ok
}

// appendPyLiteral writes w as JSON where it is a number or a word of Python or
// JSON, and reports whether it is.
func appendPyLiteral(dst, w []byte) ([]byte, bool) {
	switch string(w) {
	case "":
		return dst, false
	case "true", "True":
		return append(dst, "true"...), true
	case "false", "False":
		return append(dst, "false"...), true
	case "null", "None":
		return append(dst, "null"...), true
	}
	if isInteger(w) {
		return append(dst, w...), true
	}
	if c := w[0]; (c == '-' || c >= '0' && c <= '9') && json.Valid(w) {
		return append(dst, w...), true
	}
	s, ok := pyNumber(string(w))
	return append(dst, s...), ok
}

// isInteger reports whether w is an integer as JSON writes it.
func isInteger(w []byte) bool {
	w = bytes.TrimPrefix(w, []byte{'-'})
	if len(w) == 0 || w[0] == '0' && len(w) > 1 {
		return false
	}
	for _, c := range w {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// pyNumber is the JSON of a number as Python alone writes it: 1_000, 0x1f, .5, 1., +1.
func pyNumber(s string) (string, bool) {
	digits := strings.TrimLeft(s, "+-")
	if digits == "" || digits[0] != '.' && (digits[0] < '0' || digits[0] > '9') || len(s)-len(digits) > 1 {
		return "", false
	}
	sign := strings.TrimPrefix(s[:len(s)-len(digits)], "+")
	if len(digits) > 1 && strings.IndexByte("xXoObB", digits[1]) >= 0 {
		n, ok := new(big.Int).SetString(digits, 0)
		if !ok {
			return "", false
		}
		return sign + n.String(), true
	}
	digits = strings.ReplaceAll(digits, "_", "")
	if digits == "" {
		return "", false
	}
	if digits[0] == '.' {
		digits = "0" + digits
	}
	if whole, rest, ok := strings.Cut(digits, "."); ok && (rest == "" || rest[0] == 'e' || rest[0] == 'E') {
		digits = whole + rest
	}
	if n := sign + digits; json.Valid([]byte(n)) {
		return n, true
	}
	return "", false
}
