package parsers

import (
	"bytes"
	"encoding/json"
)

// str reads a byte of a string.
func (v *value) str(c byte) verdict {
	v.fed = c
	switch {
	case c == v.quote:
		v.endString()
		if v.at == atEnd {
			return done
		}
	case c == '\\':
		v.esc, v.at = append(v.esc[:0], c), inEscape
	case c == '"' || c < ' ':
		v.out = appendEscaped(v.out, c)
		v.fixed = v.fixed || c != '"'
	default:
		v.out = append(v.out, c)
	}
	return took
}

// endString closes a string; what was begun of an escape is dropped.
func (v *value) endString() {
	v.out = append(v.out, '"')
	if v.key {
		v.at = atColon
		return
	}
	v.after()
}

// escape reads a byte of an escape. What is no escape is written as the text
// that it is.
func (v *value) escape(c byte) verdict {
	v.fed = c
	switch n := len(v.esc); {
	case n == 1 && c == 'u', n > 1 && isHex(c):
		if v.esc = append(v.esc, c); len(v.esc) == len(`\uXXXX`) {
			v.out, v.at = append(v.out, v.esc...), inString
		}
		return took
	case n == 1 && bytes.IndexByte([]byte(`"\/bfnrt`), c) >= 0:
		v.out, v.at = append(v.out, '\\', c), inString
		return took
	case n == 1 && c == '\'':
		v.out, v.at = append(v.out, c), inString
		return took
	}
	v.out, v.at, v.fixed = append(append(v.out, '\\'), v.esc...), inString, true
	return v.str(c)
}

// endBare writes a number or word as strict JSON.
func (v *value) endBare() {
	w := v.bare
	v.out = append(v.out, v.sep...)
	v.sep = v.sep[:0]
	switch {
	case v.key:
		v.out = appendQuoted(v.out, w)
		v.at, v.fixed = atColon, true
		return
	case isNumber(w), string(w) == "true", string(w) == "false", string(w) == "null":
		v.out = append(v.out, w...)
	default:
		v.out, v.fixed = appendWord(v.out, w), true
	}
	v.after()
}

// isNumber reports whether w is a number in JSON.
func isNumber(w []byte) bool {
	w = bytes.TrimPrefix(w, []byte("-"))
	n := digits(w)
	if n == 0 || n > 1 && w[0] == '0' {
		return false
	}
	w = w[n:]
	if len(w) > 0 && w[0] == '.' {
		if n = digits(w[1:]); n == 0 {
			return false
		}
		w = w[1+n:]
	}
	if len(w) > 0 && w[0]|0x20 == 'e' {
		w = w[1:]
		if len(w) > 0 && (w[0] == '+' || w[0] == '-') {
			w = w[1:]
		}
		n = digits(w)
		return n > 0 && n == len(w)
	}
	return len(w) == 0
}

// digits counts the digits that w begins with.
func digits(w []byte) int {
	n := 0
	for n < len(w) && w[n] >= '0' && w[n] <= '9' {
		n++
	}
	return n
}

// appendWord writes a word that is no JSON: Python's words as JSON's, a number
// that breaks off as far as it goes, anything else as a string.
func appendWord(dst, w []byte) []byte {
	for _, p := range [...][2]string{{"True", "true"}, {"False", "false"}, {"None", "null"}, {"NaN", "null"}, {"undefined", "null"}} {
		if string(w) == p[0] {
			return append(dst, p[1]...)
		}
	}
	for n := len(w) - 1; n > 0 && w[0] <= '9'; n-- {
		if bytes.IndexByte([]byte(".eE+-"), w[n]) < 0 {
			break
		}
		if json.Valid(w[:n]) {
			return append(dst, w[:n]...)
		}
	}
	return appendQuoted(dst, w)
}

// appendQuoted writes s, which needs no escapes, as a string.
func appendQuoted(dst, s []byte) []byte {
	return append(append(append(dst, '"'), s...), '"')
}

// appendEscaped writes the escape of a quote or a control character.
func appendEscaped(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"':
		return append(dst, `\"`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
