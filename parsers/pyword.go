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
	w := bytes.TrimRight(b[:n], spaces)
	switch literal, ok := pyLiteral(w); {
	case len(w) == 0:
		v.out = append(v.out, "null"...)
		v.flaws |= turn.Repaired
	case ok:
		v.out = append(v.out, literal...)
	default:
		text, _ := json.Marshal(string(w))
		v.out = append(v.out, text...)
		v.flaws |= turn.Repaired
	}
	v.ended()
	v.off = n >= maxWord
	return n, true
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

// wordEnd finds where a value without quotes ends. A literal ends at the first
// mark of the syntax; text may hold commas, and what stands in parentheses.
func (v *pyValue) wordEnd(b []byte, last bool) (int, guess) {
	depth := 0
	for n, c := range b[:min(len(b), maxWord)] {
		said := no
		switch {
		case c == '(' || c == '[' || c == '{':
			depth++
		case depth > 0 && (c == ')' || c == ']' || c == '}'):
			depth--
		case depth > 0:
		case c == ')' || c == ']' || c == '}':
			said = yes
		case c == ':' && len(v.stack) > 0:
			said = yes
		case c == ',' && len(v.stack) > 0, c == ',' && isPyLiteral(b[:n]):
			said = yes
		case c == ',':
			said = v.anotherArg(b[n+1:], last)
		case isSpace(c) && len(v.stack) == 0 && n > 0 && isPyLiteral(b[:n]):
			_, said = named(bytes.TrimLeft(b[n:], spaces), last, v.scope.colons)
			if said == wait && len(b)-n > maxAhead {
				said = no
			}
		case isSpace(c) && len(v.stack) > 0 && n > 0 && isPyLiteral(b[:n]):
			said = valueFollows(b[n:], last)
		}
		if said == no {
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

// isPyLiteral reports whether w is a number or a word of Python or JSON.
func isPyLiteral(w []byte) bool {
	_, ok := pyLiteral(bytes.TrimRight(w, spaces))
	return ok
}

// pyLiteral is w as JSON when it is a number or a word of Python or JSON.
func pyLiteral(w []byte) (string, bool) {
	switch s := string(w); s {
	case "true", "True":
		return "true", true
	case "false", "False":
		return "false", true
	case "null", "None":
		return "null", true
	case "":
		return "", false
	default:
		if json.Valid(w) && w[0] != '[' && w[0] != '{' && w[0] != '"' {
			return s, true
		}
		return pyNumber(s)
	}
}

// pyNumber is a number as Python alone writes it: 1_000, 0x1f, .5, 1., +1.
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
	return sign + digits, json.Valid([]byte(sign + digits))
}
