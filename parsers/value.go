package parsers

import "bytes"

// verdict is what a reader says to a byte.
type verdict uint8

const (
	took verdict = iota // the byte is part of what is read
	done                // so it is, and it was the last one
	past                // what is read ended before this byte, which is not part of it
	bad                 // nothing goes on with this byte, which is not part of it
)

// where says what a value expects next.
type where uint8

const (
	atValue where = iota // a value
	atItem               // an item of an array, or its end
	atKey                // a key of an object, or its end
	atColon
	atNext // a comma, or the container's end
	inString
	inEscape
	inBare // a number or a word
	atEnd
)

const (
	maxDepth = 256
	maxBare  = 4096 // bytes of a number or word, and of white space kept
)

// value reads one JSON value, byte by byte, and writes it as strict JSON. It
// forgives what models get wrong. What it has written is at any time the
// beginning of a valid value. The zero value is ready.
type value struct {
	out   []byte // strict JSON, not yet taken
	at    where
	stack []byte // what closes the open containers
	sep   []byte // comma and white space, held until something follows
	bare  []byte
	esc   []byte // an escape under way, backslash included
	quote byte   // what closes the string
	key   bool   // the string or word is a key
	fed   byte   // the last byte of a string
	fixed bool   // something was not JSON
}

// reset makes it ready for another value.
func (v *value) reset() {
	*v = value{out: v.out[:0], sep: v.sep[:0], stack: v.stack[:0], bare: v.bare[:0], esc: v.esc[:0]}
}

// run reads b as far as the value takes it, and returns what it says to the
// byte behind that. It stops behind a raw line feed in a string too, where
// took only means that it goes on.
func (v *value) run(b []byte) (n int, said verdict) {
	for n < len(b) {
		if k := v.plain(b[n:]); k > 0 {
			n += k
			continue
		}
		switch said = v.feed(b[n]); said {
		case took:
			n++
			if b[n-1] == '\n' && v.at == inString {
				return n, took
			}
		case done:
			return n + 1, done
		default:
			return n, said
		}
	}
	return n, took
}

// plain writes the bytes of a string that stand for themselves, from the
// beginning of b, and returns how many they are.
func (v *value) plain(b []byte) int {
	if v.at != inString {
		return 0
	}
	n := 0
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' && b[n] != v.quote {
		n++
	}
	if n > 0 {
		v.out = append(v.out, b[:n]...)
		v.fed = b[n-1]
	}
	return n
}

// take returns what was written since the last take. It is good until the
// next byte is read.
func (v *value) take() []byte {
	out := v.out
	v.out = v.out[:0]
	return out
}

// feed reads one byte.
func (v *value) feed(c byte) verdict {
	switch v.at {
	case inString:
		return v.str(c)
	case inEscape:
		return v.escape(c)
	case inBare:
		if isBare(c) {
			if len(v.bare) == maxBare {
				return bad
			}
			v.bare = append(v.bare, c)
			return took
		}
		v.endBare()
		if v.at == atEnd {
			return past
		}
	case atEnd:
		return past
	}
	return v.structure(c)
}

// structure reads a byte between strings and words.
func (v *value) structure(c byte) verdict {
	if isSpace(c) {
		if len(v.sep) < maxBare {
			v.sep = append(v.sep, c)
		}
		return took
	}
	if c == '}' || c == ']' {
		return v.close(c)
	}
	switch v.at {
	case atColon:
		if c == ':' {
			v.part(c)
			v.at = atValue
			return took
		}
		if !v.fits(c) {
			return bad
		}
		v.out, v.fixed = append(v.out, ':'), true
	case atNext:
		if c == ',' {
			v.sep = append(v.sep, c)
			v.at = v.inside()
			return took
		}
		if v.at = v.inside(); !v.fits(c) {
			v.at = atNext
			return bad
		}
		v.out, v.fixed = append(v.out, ','), true
	case atItem, atKey:
		if c == ',' {
			v.fixed = true
			return took
		}
	}
	return v.begin(c)
}

// inside is what an open container expects after a comma.
func (v *value) inside() where {
	if v.stack[len(v.stack)-1] == '}' {
		return atKey
	}
	return atItem
}

// part writes what was held and c.
func (v *value) part(c byte) {
	v.out = append(append(v.out, v.sep...), c)
	v.sep = v.sep[:0]
}

// begin starts a value or a key with c.
func (v *value) begin(c byte) verdict {
	if !v.fits(c) {
		return bad
	}
	v.key = v.at == atKey
	switch {
	case c == '"' || c == '\'':
		v.part('"')
		v.quote, v.at, v.fed = c, inString, 0
		v.fixed = v.fixed || c == '\''
	case isBare(c):
		v.bare, v.at = append(v.bare[:0], c), inBare
	case c == '{':
		v.part(c)
		v.stack, v.at = append(v.stack, '}'), atKey
	default:
		v.part(c)
		v.stack, v.at = append(v.stack, ']'), atItem
	}
	return took
}

// close ends containers up to the one that c closes. A closing mark that fits
// none is dropped.
func (v *value) close(c byte) verdict {
	n := bytes.LastIndexByte(v.stack, c)
	if n < 0 {
		if len(v.stack) == 0 {
			return bad
		}
		v.fixed = true
		return took
	}
	v.complete()
	v.fixed = v.fixed || n < len(v.stack)-1
	for _, b := range v.sep {
		if b != ',' {
			v.out = append(v.out, b)
		} else {
			v.fixed = true
		}
	}
	v.sep = v.sep[:0]
	for len(v.stack) > n {
		v.out = append(v.out, v.stack[len(v.stack)-1])
		v.stack = v.stack[:len(v.stack)-1]
	}
	if v.after(); v.at == atEnd {
		return done
	}
	return took
}

// complete gives a key that has no value the value null.
func (v *value) complete() {
	switch v.at {
	case atColon:
		v.out, v.fixed = append(v.out, ":null"...), true
	case atValue:
		v.out, v.fixed = append(v.out, "null"...), true
	}
}

// after goes on behind a whole value.
func (v *value) after() {
	v.at = atNext
	if len(v.stack) == 0 {
		v.at = atEnd
	}
}

// finish closes whatever is open, so that what was written is a whole value.
// A value that has not begun becomes null.
func (v *value) finish() {
	v.fixed = v.fixed || v.at != atEnd
	switch v.at {
	case inString, inEscape:
		v.endString()
	case inBare:
		v.endBare()
	}
	if v.at == atValue {
		v.out = append(v.out, v.sep...)
	}
	v.complete()
	for n := len(v.stack) - 1; n >= 0; n-- {
		v.out = append(v.out, v.stack[n])
	}
	v.stack, v.at = v.stack[:0], atEnd
}

// fits reports whether c can start what is expected here.
func (v *value) fits(c byte) bool {
	if c == '{' || c == '[' {
		return v.at != atKey && len(v.stack) < maxDepth
	}
	return begins(c)
}

// begins reports whether c can start a value or a key.
func begins(c byte) bool {
	return c == '"' || c == '\'' || c == '{' || c == '[' || isBare(c)
}

// isBare reports whether c can stand in a number or a word.
func isBare(c byte) bool { return bareBytes[c] }

// bareBytes are those that isBare accepts.
var bareBytes = func() (t [256]bool) {
	for c := range t {
		b := byte(c)
		t[c] = b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' ||
			b == '-' || b == '+' || b == '.' || b == '_' || b == '$'
	}
	return t
}()

// isSpace reports whether c is white space.
func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
