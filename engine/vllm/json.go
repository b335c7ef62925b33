package vllm

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

var errJSON = errors.New("malformed JSON")

// cursor walks over one JSON document. It checks no more than it must to find
// its way, since it reads what an engine wrote; whatever the bytes are, it
// ends and never reads beyond them. After a mistake bad is set and all steps
// return nothing.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

// space moves to the next byte that counts and returns it; 0 at the end.
func (c *cursor) space() byte {
	for c.i < len(c.b) {
		switch b := c.b[c.i]; b {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return b
		}
	}
	return 0
}

// enter steps into an object or array; false when something else is there.
func (c *cursor) enter(open byte) bool {
	if c.bad || c.space() != open {
		return false
	}
	c.i++
	return true
}

// more moves to the next element before the closing byte; false, and past it,
// when there is none.
func (c *cursor) more(end byte) bool {
	b := c.space()
	if b == ',' {
		c.i++
		b = c.space()
	}
	if b == end {
		c.i++
		return false
	}
	if b == 0 || c.bad {
		c.bad = true
		return false
	}
	return true
}

// key returns the name of the next member and moves to its value. Names that
// are written with escapes are none that we look for.
func (c *cursor) key() []byte {
	name := c.raw()
	if c.space() != ':' {
		c.bad = true
		return nil
	}
	c.i++
	return name
}

// raw returns a string without its quotes, as it is written.
func (c *cursor) raw() []byte {
	if c.bad || c.space() != '"' {
		c.bad = true
		return nil
	}
	from := c.i + 1
	for i := from; i < len(c.b); i++ {
		switch c.b[i] {
		case '"':
			c.i = i + 1
			return c.b[from:i]
		case '\\':
			i++
		}
	}
	c.bad = true
	return nil
}

// text returns a string with its escapes resolved; null is "". A lone
// surrogate and a broken escape read as U+FFFD.
func (c *cursor) text() string {
	if c.null() {
		return ""
	}
	raw := c.raw()
	for i, b := range raw {
		if b == '\\' {
			return string(unescape(append(make([]byte, 0, len(raw)), raw[:i]...), raw[i:]))
		}
	}
	return string(raw)
}

// null steps over a null.
func (c *cursor) null() bool {
	if c.space() == 'n' {
		c.word()
		return true
	}
	return false
}

// number reads a number that is a whole one; others are cut at the point.
func (c *cursor) number() int64 {
	c.space()
	w := c.word()
	for i, b := range w {
		if b == '.' || b == 'e' || b == 'E' {
			w = w[:i]
			break
		}
	}
	n, err := strconv.ParseInt(string(w), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // else it is the nearest that there is
		c.bad = true
	}
	return n
}

// word returns what stands before the next byte that ends a plain value.
func (c *cursor) word() []byte {
	from := c.i
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ',', ']', '}', ' ', '\n', '\r', '\t', ':', '"', '[', '{':
			if c.i == from {
				c.bad = true
			}
			return c.b[from:c.i]
		}
		c.i++
	}
	return c.b[from:]
}

// skip steps over any value, however deep it is nested.
func (c *cursor) skip() {
	if b := c.space(); b != '{' && b != '[' {
		if b == '"' {
			c.raw()
		} else {
			c.word()
		}
		return
	}
	for depth := 0; c.i < len(c.b); {
		switch c.b[c.i] {
		case '"':
			if c.raw(); c.bad {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.i++
		if depth == 0 {
			return
		}
	}
	c.bad = true
}

// unescape appends what the escapes in s mean.
func unescape(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			dst = append(dst, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			r := hex4(s[i+1:])
			i += min(4, len(s)-i-1)
			if utf16.IsSurrogate(r) && i+6 < len(s) && s[i+1] == '\\' && s[i+2] == 'u' {
				if both := utf16.DecodeRune(r, hex4(s[i+3:])); both != utf8.RuneError {
					r = both
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r) // a lone surrogate becomes U+FFFD
		default: // a quote, a backslash or a slash
			dst = append(dst, s[i])
		}
	}
	return dst
}

// hex4 reads four hex digits; U+FFFD when they are none.
func hex4(s []byte) rune {
	if len(s) < 4 {
		return utf8.RuneError
	}
	var r rune
	for _, b := range s[:4] {
		switch {
		case b >= '0' && b <= '9':
			r = r<<4 | rune(b-'0')
		case b >= 'a' && b <= 'f':
			r = r<<4 | rune(b-'a'+10)
		case b >= 'A' && b <= 'F':
			r = r<<4 | rune(b-'A'+10)
		default:
			return utf8.RuneError
		}
	}
	return r
}
