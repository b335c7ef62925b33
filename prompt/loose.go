package prompt

import (
	"bytes"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// Claude Code sends call arguments back as its tools understood them: "5" for
// a number becomes 5, a flag that the model left out is there as false, and
// in what is written to files white space at the ends of lines is gone, and a
// command has lost a leading cd to where it runs anyway and the second
// backslash of an escaped semicolon. An Edit without replace_all is the
// everyday case. So in arguments a word in quotes is that word, false and null
// are the same as nothing, and what commands and lines lose does not count. A cd
// that the model did not write does: see movesAlike.

// text hashes a string value whose opening quote is consumed.
func (c *canon) text() (uint64, bool) {
	s, ok := c.content()
	if c.loose {
		if h, is := quoted(s); is {
			return h, ok
		}
		s = c.asKept(withoutCd(s))
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

// withoutCd returns s without a leading "cd path && ".
func withoutCd(s []byte) []byte {
	path, ok := bytes.CutPrefix(s, []byte("cd "))
	if !ok {
		return s
	}
	if path, rest, ok := bytes.Cut(path, []byte(" && ")); ok && bytes.IndexByte(path, '\n') < 0 {
		return rest
	}
	return s
}

// movesAlike reports whether the commands of an answer begin with a cd only
// where what the model said holds it: hashes do not tell.
func (m *Model) movesAlike(answer *turn.Message, said *turn.RawTurn) bool {
	var made []byte
	for i := range answer.Blocks {
		b := &answer.Blocks[i]
		if b.Kind != turn.ToolUse || !bytes.Contains(b.Args, []byte("cd ")) {
			continue
		}
		if made == nil {
			made = m.tok.Decode(nil, said.IDs)
			made = appendUnescaped(append(made, 0), made) // as it is, and as JSON
		}
		for _, s := range stringsOf(b.Args) {
			if cd := s[:len(s)-len(withoutCd(s))]; !bytes.Contains(made, cd) {
				return false
			}
		}
	}
	return true
}

// stringsOf returns what the strings of a JSON value say, keys too.
func stringsOf(raw []byte) (all [][]byte) {
	for i := 0; ; {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			return all
		}
		i += n + 1
		end, escaped := stringEnd(raw, i)
		if end < 0 {
			return all
		}
		s := raw[i:end]
		if escaped {
			s = appendUnescaped(nil, s)
		}
		all = append(all, s)
		i = end + 1
	}
}

// asKept returns s as Claude Code keeps it: without spaces, tabs and carriage
// returns at the ends of its lines, and with \; for \\;. It holds until the
// next call.
func (c *canon) asKept(s []byte) []byte {
	c.lines = c.lines[:0]
	for {
		line, rest, more := bytes.Cut(s, []byte("\n"))
		line = bytes.TrimRight(line, " \t\r")
		for {
			before, after, found := bytes.Cut(line, []byte(`\\;`))
			c.lines = append(c.lines, before...)
			if !found {
				break
			}
			c.lines = append(c.lines, `\;`...)
			line = after
		}
		if !more {
			return c.lines
		}
		c.lines = append(c.lines, '\n')
		s = rest
	}
}
