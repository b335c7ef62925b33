package prompt

import (
	"bytes"

	"github.com/zeebo/xxh3"
)

// Claude Code sends call arguments back as its tools understood them: "5" for
// a number becomes 5, a flag that the model left out is there as false, and
// in what is written to files white space at the ends of lines is gone. An
// Edit without replace_all is the everyday case. So in arguments a word in
// quotes is that word, false and null are the same as nothing, and such white
// space does not count.

// text hashes a string value whose opening quote is consumed.
func (c *canon) text() (uint64, bool) {
	s, ok := c.content()
	if c.loose {
		if h, is := quoted(s); is {
			return h, ok
		}
		s = c.trimLines(s)
	}
	return mix(xxh3.Hash(s), 0, tagString), ok
}

// longestWord is the most bytes of a string that is read as a word.
const longestWord = 24

// quoted hashes a string that holds nothing but true, false, null or a
// number.
func quoted(s []byte) (uint64, bool) {
	if len(s) > longestWord {
		return 0, false
	}
	switch string(s) {
	case "true", "false", "null":
		return wordHash(s)
	}
	digits := bytes.TrimPrefix(s, []byte("-"))
	switch {
	case len(digits) == 0 || digits[0] < '0' || digits[0] > '9':
		return 0, false
	case len(digits) > 1 && digits[0] == '0' && digits[1] != '.':
		return 0, false // 007 and 0x7 are names
	}
	return numberHash(s)
}

var (
	falseHash, _ = wordHash([]byte("false"))
	nullHash, _  = wordHash([]byte("null"))
)

// unset reports whether a member with this value is as good as none.
func unset(v uint64) bool { return v == falseHash || v == nullHash }

// trimLines returns s without spaces, tabs and carriage returns at the ends of
// its lines, until the next call.
func (c *canon) trimLines(s []byte) []byte {
	c.lines = c.lines[:0]
	for {
		line, rest, more := bytes.Cut(s, []byte("\n"))
		c.lines = append(c.lines, bytes.TrimRight(line, " \t\r")...)
		if !more {
			return c.lines
		}
		c.lines = append(c.lines, '\n')
		s = rest
	}
}
