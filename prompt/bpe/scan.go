package bpe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// cursor walks a JSON document once, front to back, without building values.
// encoding/json would make a map entry and two strings of each of 300,000
// tokens and merges; the cursor makes none.
type cursor struct {
	data []byte
	at   int
	buf  []byte // the last string that had escapes
}

// fault says what was expected where.
func (c *cursor) fault(want string) error {
	return fmt.Errorf("byte %d: want %s", c.at, want)
}

// peek skips white space and returns the next byte, 0 at the end.
func (c *cursor) peek() byte {
	for ; c.at < len(c.data); c.at++ {
		switch b := c.data[c.at]; b {
		case ' ', '\n', '\t', '\r':
		default:
			return b
		}
	}
	return 0
}

// take consumes b if it is next.
func (c *cursor) take(b byte) bool {
	if c.peek() != b {
		return false
	}
	c.at++
	return true
}

// object calls member for each key; member must consume the value. The key
// is good until the next string is read.
func (c *cursor) object(member func(key []byte) error) error {
	if !c.take('{') {
		return c.fault("an object")
	}
	if c.take('}') {
		return nil
	}
	for {
		key, err := c.text()
		if err != nil {
			return err
		}
		if !c.take(':') {
			return c.fault("a colon")
		}
		if err := member(key); err != nil {
			return err
		}
		if c.take('}') {
			return nil
		}
		if !c.take(',') {
			return c.fault("a comma or }")
		}
	}
}

// array calls element before each element, which it must consume.
func (c *cursor) array(element func() error) error {
	if !c.take('[') {
		return c.fault("an array")
	}
	if c.take(']') {
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if c.take(']') {
			return nil
		}
		if !c.take(',') {
			return c.fault("a comma or ]")
		}
	}
}

// text reads a string. The result is good until the next one is read.
func (c *cursor) text() ([]byte, error) {
	if c.peek() != '"' {
		return nil, c.fault("a string")
	}
	start := c.at
	plain, err := c.pass()
	if err != nil {
		return nil, err
	}
	if plain {
		return c.data[start+1 : c.at-1], nil
	}
	var s string
	if err := json.Unmarshal(c.data[start:c.at], &s); err != nil {
		return nil, fmt.Errorf("byte %d: %w", start, err)
	}
	c.buf = append(c.buf[:0], s...)
	return c.buf, nil
}

// pass moves over the string that begins here and reports whether it is
// plain, that is without escapes.
func (c *cursor) pass() (plain bool, err error) {
	plain = true
	for i := c.at + 1; i < len(c.data); i++ {
		switch c.data[i] {
		case '"':
			c.at = i + 1
			return plain, nil
		case '\\':
			plain = false
			i++
		}
	}
	return false, errors.New("a string has no end")
}

// number reads an id: digits only.
func (c *cursor) number() (int, error) {
	c.peek()
	n, start := 0, c.at
	for c.at < len(c.data) && c.data[c.at] >= '0' && c.data[c.at] <= '9' && n < maxID {
		n = n*10 + int(c.data[c.at]-'0')
		c.at++
	}
	if c.at == start {
		return 0, c.fault("an id")
	}
	if n >= maxID {
		return 0, fmt.Errorf("byte %d: id above the limit of %d", start, maxID-1)
	}
	return n, nil
}

// skip moves over any value and returns its bytes. Brackets are counted, not
// checked; whoever needs the value parses it.
func (c *cursor) skip() ([]byte, error) {
	c.peek()
	start, depth := c.at, 0
	for c.at < len(c.data) {
		switch c.data[c.at] {
		case '"':
			if _, err := c.pass(); err != nil {
				return nil, err
			}
			if depth == 0 {
				return c.data[start:c.at], nil
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return c.scalar(start)
			}
			if depth--; depth == 0 {
				c.at++
				return c.data[start:c.at], nil
			}
		case ',':
			if depth == 0 {
				return c.scalar(start)
			}
		}
		c.at++
	}
	return nil, errors.New("the document ends early")
}

// scalar returns the number or word between start and the cursor.
func (c *cursor) scalar(start int) ([]byte, error) {
	v := bytes.TrimSpace(c.data[start:c.at])
	if len(v) == 0 {
		return nil, c.fault("a value")
	}
	return v, nil
}
