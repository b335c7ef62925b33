package dialect

import (
	"bytes"
	"unicode/utf8"

	"github.com/agentinfer/dyn/server/dialect/tape"
)

// freeText takes the text of a free-text tool out of its arguments while they
// come. The zero value is ready. What does not begin as {"input":" is held
// until the call is whole and read as inputText reads it.
type freeText struct {
	raw  []byte // the arguments so far
	at   int    // raw[:at] has been read
	open bool   // at is inside the text
	done bool   // the text is whole
	held bool   // the arguments are of another form
}

// push takes a piece of the arguments and returns the text in it.
func (f *freeText) push(piece string) string {
	f.raw = append(f.raw, piece...)
	if !f.open && !f.held {
		f.begin()
	}
	if !f.open || f.done {
		return ""
	}
	end, whole := textEnd(f.raw, f.at)
	if !whole {
		end -= cutRune(f.raw[f.at:end])
	}
	chunk := f.raw[f.at:end]
	f.at, f.done = end, whole
	return unquoted(chunk)
}

// rest returns the text that was held, when the call is whole.
func (f *freeText) rest() string {
	if f.open {
		return ""
	}
	return inputText(string(f.raw))
}

// begin looks for the beginning of the text, as far as the arguments go.
func (f *freeText) begin() {
	i := 0
	for _, word := range []string{"{", `"input"`, ":", `"`} {
		for i < len(f.raw) && bytes.IndexByte([]byte(" \n\t\r"), f.raw[i]) >= 0 {
			i++
		}
		have := f.raw[i:min(i+len(word), len(f.raw))]
		if string(have) != word[:len(have)] {
			f.held = true
			return
		}
		if i += len(have); len(have) < len(word) {
			return // more must come
		}
	}
	f.at, f.open = i, true
}

// textEnd returns the end of what can be read of the string that goes on at
// i, and whether its quote was found there. Escapes, and pairs of them that
// are one character, are read whole or not yet.
func textEnd(raw []byte, i int) (end int, whole bool) {
	for i < len(raw) {
		switch c := raw[i]; {
		case c == '"':
			return i, true
		case c != '\\':
			i++
			continue
		case i+1 == len(raw):
			return i, false
		case raw[i+1] != 'u':
			i += 2
			continue
		case i+6 > len(raw):
			return i, false
		}
		n := 6
		if first := raw[i+2] | 0x20; first == 'd' && bytes.IndexByte([]byte("89abAB"), raw[i+3]) >= 0 {
			n = 12 // the first half of a pair: wait for what follows it
		}
		if n == 12 && i+8 <= len(raw) && string(raw[i+6:i+8]) != `\u` {
			n = 6
		}
		if i+n > len(raw) {
			return i, false
		}
		i += n
	}
	return i, false
}

// cutRune returns the bytes at the end of b that begin a character.
func cutRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// unquoted resolves the escapes of a part of a string.
func unquoted(chunk []byte) string {
	if bytes.IndexByte(chunk, '\\') < 0 {
		return string(chunk)
	}
	quoted := append(append([]byte{'"'}, chunk...), '"')
	doc, err := tape.Parse(quoted)
	if err != nil {
		return string(chunk)
	}
	defer doc.Free()
	return doc.Root().Text()
}
