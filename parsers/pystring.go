package parsers

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentinfer/dyn/turn"
)

// guess is what can be said of bytes that may not all be there yet.
type guess uint8

const (
	no guess = iota
	yes
	wait
)

// unless is what to say where b ends too early.
func unless(last bool) guess {
	if last {
		return no
	}
	return wait
}

// maxAhead is how far it is looked behind a quote for what must follow it.
const maxAhead = 1024

// opening reads what opens a string: letters of a prefix and one or three
// quotes.
func (v *pyValue) opening(b []byte, last bool) (int, guess) {
	n := 0
	v.plain = false
	for n < len(b) && n < 2 && strings.IndexByte("rbfuRBFU", b[n]) >= 0 {
		v.plain = v.plain || b[n]|0x20 == 'r'
		n++
	}
	if n == len(b) {
		return 0, unless(last)
	}
	c := b[n]
	if c != '"' && c != '\'' {
		return 0, no
	}
	rest := b[n:]
	if len(rest) < 3 && !last && len(bytes.Trim(rest, string(c))) == 0 {
		return 0, wait
	}
	v.quote, v.triple = c, len(rest) > 2 && rest[1] == c && rest[2] == c
	return n + v.width(), yes
}

// width is how many quotes end the string.
func (v *pyValue) width() int {
	if v.triple {
		return 3
	}
	return 1
}

// stops marks the bytes that need a look inside a string, the first ones of
// ends among them.
func stops(ends []string) *[256]bool {
	var t [256]bool
	for c := range 32 {
		t[c] = true
	}
	t['"'], t['\''], t['\\'] = true, true, true
	for _, e := range ends {
		if e != "" {
			t[e[0]] = true
		}
	}
	return &t
}

// str reads a piece of a string.
func (v *pyValue) str(b []byte, last bool) (n int, ok bool) {
	stop := v.scope.stop
	for n < len(b) {
		from := n
		for n < len(b) && !stop[b[n]] {
			n++
		}
		v.out = append(v.out, b[from:n]...)
		if n == len(b) {
			break
		}
		k := 0
		switch c := b[n]; {
		case c == v.quote:
			k, ok = v.closing(b[n:], last)
		case c == '\\' && !v.plain:
			k, ok = v.escape(b[n:], last)
		case c == '\\':
			v.out = append(v.out, `\\`...)
			k, ok = 1, true
		case c == '"' || c < ' ':
			v.out = appendEscaped(v.out, c)
			k, ok = 1, true
		default:
			k, ok = v.ending(b[n:], last)
		}
		n += k
		if !ok || v.at != pyString || v.off {
			return n, ok
		}
	}
	return n, false
}

// closing reads a quote of the string's kind.
func (v *pyValue) closing(b []byte, last bool) (int, bool) {
	w := v.width()
	if len(b) < w && !last && len(bytes.Trim(b, string(v.quote))) == 0 {
		return 0, false
	}
	said := no
	if v.triple && !bytes.HasPrefix(b, bytes.Repeat(b[:1], 3)) {
		w = 1
	} else {
		said = v.follows(b[w:], last)
	}
	switch {
	case said == wait:
		return 0, false
	case said == yes:
		v.out = append(v.out, '"')
		v.ended()
		return w, true
	case !v.triple && !v.scope.loose:
		if n, said := v.joined(b[1:], last); said == wait {
			return 0, false
		} else if said == yes {
			return 1 + n, true
		}
	}
	if v.quote == '"' {
		v.out = append(v.out, '\\')
	}
	v.out = append(v.out, v.quote)
	if !v.triple {
		v.flaws |= turn.Repaired
	}
	return 1, true
}

// joined reads the beginning of another string that goes on with this one:
// 'a' 'b'.
func (v *pyValue) joined(b []byte, last bool) (int, guess) {
	n := 0
	for n < len(b) && n < maxAhead && isSpace(b[n]) {
		n++
	}
	if n == len(b) {
		return 0, unless(last)
	}
	if n == 0 || b[n] != '"' && b[n] != '\'' {
		return 0, no
	}
	v.quote = b[n]
	return n + 1, yes
}

// ending reads what may be a marker of the section's end. It ends a string
// that has no quote only when nothing but white space follows it.
func (v *pyValue) ending(b []byte, last bool) (int, bool) {
	n, said := v.mark(b, last)
	if said == yes {
		rest := b[n:]
		switch {
		case len(rest) > maxAhead || len(bytes.TrimLeft(rest, spaces)) > 0:
			said = no
		case !last:
			said = wait
		}
	}
	switch said {
	case wait:
		return 0, false
	case yes:
		v.out = append(v.out, '"')
		v.ended()
		v.off = true
		return 0, true
	}
	v.out = append(v.out, b[0])
	return 1, true
}

// mark looks for a marker of the section's end.
func (v *pyValue) mark(b []byte, last bool) (int, guess) {
	if len(b) == 0 || !v.scope.stop[b[0]] {
		return 0, no
	}
	for _, e := range v.scope.ends {
		if len(b) >= len(e) {
			if string(b[:len(e)]) == e {
				return len(e), yes
			}
		} else if !last && e[:len(b)] == string(b) {
			return 0, wait
		}
	}
	return 0, no
}

// escape reads an escape of Python or JSON. What is none is the text that it
// is.
func (v *pyValue) escape(b []byte, last bool) (int, bool) {
	if len(b) < 2 {
		if last {
			return 1, true // it breaks off
		}
		return 0, false
	}
	switch c := b[1]; c {
	case 'n', 't', 'r', 'b', 'f', '\\', '"':
		v.out = append(v.out, '\\', c)
		return 2, true
	case '\'':
		v.out = append(v.out, c)
		return 2, true
	case 'a', 'v':
		v.out = appendEscaped(v.out, "\a\v"[strings.IndexByte("av", c)])
		return 2, true
	case '\n':
		return 2, true
	case 'x':
		return v.code(b, 2, last)
	case 'u':
		return v.code(b, 4, last)
	case 'U':
		return v.code(b, 8, last)
	}
	if b[1] >= '0' && b[1] <= '7' {
		return v.octal(b, last)
	}
	v.out = append(v.out, `\\`...)
	return 1, true
}

// code reads an escape of hexadecimal digits.
func (v *pyValue) code(b []byte, digits int, last bool) (int, bool) {
	n := 2
	for n < len(b) && n < 2+digits && isHex(b[n]) {
		n++
	}
	switch {
	case n == 2+digits && digits == 4:
		v.out = append(v.out, b[:n]...)
		return n, true
	case n == 2+digits:
		r, _ := strconv.ParseUint(string(b[2:n]), 16, 32)
		v.out = appendRune(v.out, rune(r))
		return n, true
	case n == len(b) && !last:
		return 0, false
	}
	v.out = append(v.out, `\\`...)
	return 1, true
}

// octal reads an escape of up to three octal digits.
func (v *pyValue) octal(b []byte, last bool) (int, bool) {
	n := 1
	for n < len(b) && n < 4 && b[n] >= '0' && b[n] <= '7' {
		n++
	}
	if n == len(b) && n < 4 && !last {
		return 0, false
	}
	r, _ := strconv.ParseUint(string(b[1:n]), 8, 32)
	v.out = appendRune(v.out, rune(r))
	return n, true
}

// appendRune writes a character of a string.
func appendRune(dst []byte, r rune) []byte {
	switch {
	case r < ' ' || r == '"':
		return appendEscaped(dst, byte(r))
	case r == '\\':
		return append(dst, `\\`...)
	}
	return utf8.AppendRune(dst, r)
}
