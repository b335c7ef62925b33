package tape

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// lengthSize is the room for a text's length before it, in Doc.texts. A string
// with escapes is longer than its text and that: texts are no larger than the
// document.
const lengthSize = 4

// quoted reads the string whose quote is at i. It returns its end, or the
// negative offset of a fault.
func (d *Doc) quoted(i int, n *node) (end int) {
	s := d.src
	if i = stop(s, i+1); i == len(s) {
		return -i
	}
	switch s[i] {
	case '"':
		return i + 1
	case '\\':
		from := int(n.start) + 1
		d.texts = append(append(d.texts, 0, 0, 0, 0), s[from:i]...)
		n.escaped, n.text = true, uint32(len(d.texts)-(i-from))
		if d.texts, i = resolve(d.texts, s, i); i >= 0 {
			binary.LittleEndian.PutUint32(d.texts[n.text-lengthSize:], uint32(len(d.texts))-n.text)
		}
		return i
	}
	return -i // a control character
}

const ones, high = 0x0101010101010101, 0x8080808080808080

// special tells where the quotes, backslashes and control characters are among
// eight bytes: the lowest bit that is set is in the first one, and none is when
// there are none. A borrow can only set bits above a true one.
func special(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return (((w - ones*0x20) & ^w) | ((quote - ones) & ^quote) | ((slash - ones) & ^slash)) & high
}

// Plain reports whether eight bytes are ASCII that a JSON string holds as it
// is.
func Plain(s string) bool {
	_ = s[7]
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return special(w)|w&high == 0
}

// stop returns the offset at or after i of the next quote, backslash or
// control character, or len(s). It looks at eight bytes at a time.
func stop(s []byte, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if m := special(binary.LittleEndian.Uint64(s[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < 0x20 {
			return i
		}
	}
	return i
}

// resolve appends the rest of the string in s from i on to b, its escapes
// resolved. It returns the end of the string too, or the negative offset of a
// fault. Eight bytes are copied at a time; those before a special one count.
func resolve(b, s []byte, i int) (_ []byte, end int) {
	n := len(b)
	b = b[:cap(b)]
	for {
		if len(b)-n < 16 {
			b = slices.Grow(b[:n], 16)
			b = b[:cap(b)]
		}
		if i+8 <= len(s) {
			w := binary.LittleEndian.Uint64(s[i:])
			binary.LittleEndian.PutUint64(b[n:], w)
			m := special(w)
			if m == 0 {
				i, n = i+8, n+8
				continue
			}
			k := bits.TrailingZeros64(m) / 8
			i, n = i+k, n+k
		} else if i == len(s) {
			return b[:n], -i
		}
		switch c := s[i]; {
		case c == '"':
			return b[:n], i + 1
		case c == '\\' && i+1 < len(s) && simple[s[i+1]] != 0:
			b[n] = simple[s[i+1]]
			i, n = i+2, n+1
		case c == '\\':
			r, next := character(s, i)
			if next < 0 {
				return b[:n], next
			}
			i, n = next, n+utf8.EncodeRune(b[n:], r)
		case c < ' ':
			return b[:n], -i
		default:
			b[n] = c
			i, n = i+1, n+1
		}
	}
}

// simple holds what the escapes of one letter stand for.
var simple = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// character reads the \u escape at i and, where it is the first half of a
// pair, the second half. It returns the offset after it, or the negative offset
// of a fault.
func character(s []byte, i int) (r rune, next int) {
	r, ok := hex4(s, i)
	if !ok {
		return 0, -i
	}
	if !utf16.IsSurrogate(r) {
		return r, i + 6
	}
	if low, ok := hex4(s, i+6); ok {
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, i + 12
		}
	}
	return utf8.RuneError, i + 6
}

// hex4 reads the \u escape at i.
func hex4(s []byte, i int) (r rune, ok bool) {
	if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
		return 0, false
	}
	for _, c := range s[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
