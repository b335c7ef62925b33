package prompt

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"
)

// Tags keep the kinds of JSON values apart.
const (
	tagObject uint64 = iota + 101
	tagArray
	tagString
	tagNumber
	tagWord
	tagPair
)

// maxDepth is how deep JSON may nest before it is compared as text.
const maxDepth = 512

// canon reads JSON values and hashes them on the way.
type canon struct {
	s     []byte
	i     int
	buf   []byte // of strings with escapes
	loose bool   // what clients do to arguments does not count, see loose.go
	lines []byte // of strings as clients keep them
}

// args hashes call arguments. No arguments at all are an empty object.
func (c *canon) args(raw []byte) uint64 {
	c.loose = true
	defer func() { c.loose = false }()
	switch s := bytes.TrimSpace(raw); string(s) {
	case "", "null", `""`:
		return c.json([]byte("{}"))
	default:
		return c.json(s)
	}
}

// json hashes a JSON value without regard to white space, key order, escapes
// and number spelling, and to cache_control keys. What is no JSON is hashed
// as text.
func (c *canon) json(raw []byte) uint64 {
	c.s, c.i = bytes.TrimSpace(raw), 0
	h, ok := c.value(0)
	if c.space(); !ok || c.i != len(c.s) {
		return mix(xxh3.Hash(c.s), 0, tagWord)
	}
	return h
}

func (c *canon) space() {
	for c.i < len(c.s) && isSpace(c.s[c.i]) {
		c.i++
	}
}

// take consumes b, after white space.
func (c *canon) take(b byte) bool {
	c.space()
	if c.i < len(c.s) && c.s[c.i] == b {
		c.i++
		return true
	}
	return false
}

func (c *canon) value(depth int) (uint64, bool) {
	if depth > maxDepth {
		return 0, false
	}
	switch {
	case c.take('{'):
		return c.object(depth)
	case c.take('['):
		return c.array(depth)
	case c.take('"'):
		return c.text()
	}
	return c.scalar()
}

// object adds up the hashes of its pairs, so that their order does not count.
func (c *canon) object(depth int) (uint64, bool) {
	var sum uint64
	for first := true; !c.take('}'); first = false {
		if !first && !c.take(',') || !c.take('"') {
			return 0, false
		}
		key, ok := c.str()
		if !ok || !c.take(':') {
			return 0, false
		}
		v, ok := c.value(depth + 1)
		if !ok {
			return 0, false
		}
		if key != leaseKey && !(c.loose && unset(v)) {
			sum += mix(key, v, tagPair)
		}
	}
	return mix(sum, 0, tagObject), true
}

var leaseKey = xxh3.HashString("cache_control")

func (c *canon) array(depth int) (uint64, bool) {
	var h uint64
	for first := true; !c.take(']'); first = false {
		if !first && !c.take(',') {
			return 0, false
		}
		v, ok := c.value(depth + 1)
		if !ok {
			return 0, false
		}
		h = mix(h, v, tagArray)
	}
	return mix(h, 1, tagArray), true
}

// str hashes the content of a string whose opening quote is consumed.
func (c *canon) str() (uint64, bool) {
	s, ok := c.content()
	return xxh3.Hash(s), ok
}

// content returns what such a string says, until the next call.
func (c *canon) content() ([]byte, bool) {
	end, escaped := stringEnd(c.s, c.i)
	if end < 0 {
		return nil, false
	}
	s := c.s[c.i:end]
	c.i = end + 1
	if escaped {
		c.buf = appendUnescaped(slices.Grow(c.buf[:0], len(s)), s)
		s = c.buf
	}
	return s, true
}

func (c *canon) scalar() (uint64, bool) {
	from := c.i
	for c.i < len(c.s) && bytes.IndexByte([]byte(",]}: \t\r\n\"{["), c.s[c.i]) < 0 {
		c.i++
	}
	return wordHash(c.s[from:c.i])
}

// wordHash hashes a value that is no string, object or array.
func wordHash(w []byte) (uint64, bool) {
	switch string(w) {
	case "":
		return 0, false
	case "true", "false", "null":
		return mix(xxh3.Hash(w), 0, tagWord), true
	}
	return numberHash(w)
}

// numberHash hashes a number by its value: 1, 1.0 and 10e-1 are the same.
// Integers beyond 2^53 keep their digits.
func numberHash(w []byte) (uint64, bool) {
	if n, err := strconv.ParseInt(string(w), 10, 64); err == nil {
		return mix(uint64(n), 0, tagNumber), true
	}
	f, err := strconv.ParseFloat(string(w), 64)
	if n := int64(f); err == nil && float64(n) == f && f > -1<<53 && f < 1<<53 {
		return mix(uint64(n), 0, tagNumber), true
	}
	if err != nil {
		return 0, false
	}
	var buf [32]byte
	return mix(xxh3.Hash(strconv.AppendFloat(buf[:0], f, 'g', -1, 64)), 1, tagNumber), true
}
