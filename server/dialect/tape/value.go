package tape

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Value is a position on a tape. The zero Value is one that is not there.
type Value struct {
	d *Doc
	i uint32
}

// Kind returns the value's kind, None when it is not there.
func (v Value) Kind() Kind {
	if v.d == nil {
		return None
	}
	return v.d.nodes[v.i].kind
}

// Given reports whether the value is there and not null.
func (v Value) Given() bool { return v.Kind() > Null }

// Raw returns the value as the client wrote it: a part of the source, or nil.
func (v Value) Raw() []byte {
	if v.d == nil {
		return nil
	}
	n := v.d.nodes[v.i]
	return v.d.src[n.start:n.end:n.end]
}

// Key returns the field of an object, or a Value that is not there.
func (v Value) Key(name string) Value {
	var found Value
	for k, f := range v.Fields() {
		if k.equals(name) {
			found = f
		}
	}
	return found
}

// Elements yields the elements of an array; of anything else, none.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != Array {
			return
		}
		end := v.d.nodes[v.i].next
		for n, i := 0, v.i+1; i < end; n, i = n+1, v.d.nodes[i].next {
			if !yield(n, Value{v.d, i}) {
				return
			}
		}
	}
}

// Empty reports whether an array or object holds nothing.
func (v Value) Empty() bool {
	return v.Kind() < Array || v.d.nodes[v.i].next == v.i+1
}

// Fields yields the keys and values of an object; of anything else, none.
func (v Value) Fields() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		if v.Kind() != Object {
			return
		}
		end := v.d.nodes[v.i].next
		for i := v.i + 1; i < end; i = v.d.nodes[i+1].next {
			if !yield(Value{v.d, i}, Value{v.d, i + 1}) {
				return
			}
		}
	}
}

// equals reports whether a string has the text s.
func (v Value) equals(s string) bool {
	n := v.d.nodes[v.i]
	if n.escaped { // an escape is at most six bytes for one
		return int(n.end-n.start) <= 6*len(s)+2 && v.Text() == s
	}
	return string(v.d.src[n.start+1:n.end-1]) == s
}

// Text returns a copy of a string's text with its escapes resolved; of
// anything else, "".
func (v Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	n := v.d.nodes[v.i]
	s := v.d.src[n.start+1 : n.end-1]
	if !n.escaped {
		return string(s)
	}
	b := unescape(make([]byte, 0, len(s)+wordSlack), s)
	return unsafe.String(unsafe.SliceData(b), len(b)) // nobody else has b
}

// Int returns a number that is whole and fits.
func (v Value) Int() (int64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(v.Raw()), 10, 64); err == nil {
		return n, true
	}
	f, ok := v.Float()
	if !ok || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// Float returns a number.
func (v Value) Float() (float64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	return f, err == nil
}

// Step is one step on the way to a value: a key, or an index.
type Step struct {
	Key   string
	Index int // -1 for a key
}

// Path returns the way from the root to v. It walks the document and is for
// errors.
func (v Value) Path() []Step {
	var path []Step
	at := v.d.Root()
	for at.i != v.i {
		at = at.toward(v.i, &path)
	}
	return path
}

// toward returns the child of v that is or holds the node target.
func (v Value) toward(target uint32, path *[]Step) Value {
	holds := func(c Value) bool { return c.i <= target && target < c.d.nodes[c.i].next }
	for k, c := range v.Fields() {
		if holds(c) {
			*path = append(*path, Step{Key: k.Text(), Index: -1})
			return c
		}
	}
	for n, c := range v.Elements() {
		if holds(c) {
			*path = append(*path, Step{Index: n})
			return c
		}
	}
	return Value{v.d, target} // a key: no value leads to it
}

// simple holds what the escapes of one letter stand for.
var simple = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// wordSlack is the room behind a text that unescape may write to.
const wordSlack = 8

// unescape appends s with its escapes resolved; s is known to be valid, and b
// has room for it and wordSlack more. Eight bytes are copied at a time, and
// those before a backslash among them count.
func unescape(b, s []byte) []byte {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	n := len(b)
	b = b[:cap(b)]
	for {
		k := len(s)
		if k >= 8 {
			w := binary.LittleEndian.Uint64(s)
			binary.LittleEndian.PutUint64(b[n:], w)
			slash := w ^ (ones * '\\')
			m := (slash - ones) & ^slash & high
			if k = bits.TrailingZeros64(m) / 8; m == 0 {
				n, s = n+8, s[8:]
				continue
			}
		} else if k = bytes.IndexByte(s, '\\'); k < 0 {
			return b[:n+copy(b[n:], s)]
		} else {
			copy(b[n:], s[:k])
		}
		n += k
		c := s[k+1]
		s = s[k+2:]
		if c != 'u' {
			b[n] = simple[c]
			n++
			continue
		}
		var r rune
		r, s = character(s)
		n += utf8.EncodeRune(b[n:], r)
	}
}

// character reads the digits after a \u and, where they are the first half of
// a pair, the second half.
func character(s []byte) (rune, []byte) {
	r, _ := hex4(s, 0)
	s = s[4:]
	if !utf16.IsSurrogate(r) {
		return r, s
	}
	if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
		low, _ := hex4(s, 2)
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, s[6:]
		}
	}
	return utf8.RuneError, s
}
