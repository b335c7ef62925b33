package parsers

import (
	"bytes"
	"strings"
)

// fit says whether a pattern stands somewhere.
type fit uint8

const (
	misses fit = iota
	may        // once more is there
	fits
)

const (
	maxHead  = 256  // bytes of a name, a key or an attribute
	maxBlank = 1024 // white space between two tags
)

// holes are what stands where a pattern has braces. They are good as long as
// the text is.
type holes struct {
	id, typ, str []byte
	key          string // what {key} stands for
}

// fill notes what a hole holds.
func (h *holes) fill(name string, text []byte) {
	switch name {
	case "id":
		h.id = text
	case "type":
		h.typ = text
	case "string":
		h.str = text
	}
}

// match compares the beginning of b with a pattern: a marker in which a space
// stands for any white space, and braces for text up to what follows them. It
// returns how long the match is. With last nothing follows b.
func (h *holes) match(pattern string, b []byte, last bool) (int, fit) {
	open := may
	if last {
		open = misses
	}
	h.id, h.typ, h.str = nil, nil, nil
	n := 0
	for j := 0; j < len(pattern); {
		switch c := pattern[j]; {
		case isSpace(c):
			for j < len(pattern) && isSpace(pattern[j]) {
				j++
			}
			n += blank(b[n:])
		case c == '{' && hole(pattern[j:]) != "":
			name := hole(pattern[j:])
			j += len(name) + len("{}")
			k, f := h.inHole(name, pattern[j:], b[n:])
			if n += k; f != fits {
				return 0, min(f, open)
			}
		default:
			end := j + 1
			for end < len(pattern) && pattern[end] != '{' && !isSpace(pattern[end]) {
				end++
			}
			k, f := literal(pattern[j:end], b[n:])
			if n += k; f != fits {
				return 0, min(f, open)
			}
			j = end
		}
	}
	return n, fits
}

// hole is the name of the hole that a pattern begins with, "" when it begins
// with none: other braces are text.
func hole(pattern string) string {
	for _, name := range [...]string{"id", "index", "type", "string", "key"} {
		if strings.HasPrefix(pattern[1:], name) && strings.HasPrefix(pattern[1+len(name):], "}") {
			return name
		}
	}
	return ""
}

// inHole reads what stands in a hole: up to the first byte of the rest of the
// pattern. A tag does not go on in another, nor in another line.
func (h *holes) inHole(name, rest string, b []byte) (int, fit) {
	if name == "key" {
		return literal(h.key, b)
	}
	text := b[:min(len(b), maxHead)]
	n := -1
	if rest != "" {
		n = bytes.IndexByte(text, rest[0])
	}
	if n >= 0 {
		text = text[:n]
	}
	switch {
	case bytes.ContainsAny(text, "<>\n"), n < 0 && len(text) == maxHead, rest == "":
		return 0, misses
	case n < 0:
		return 0, may
	}
	h.fill(name, text)
	return n, fits
}

// literal compares the beginning of b with text.
func literal(text string, b []byte) (int, fit) {
	switch {
	case hasPrefix(b, text):
		return len(text), fits
	case begun(b, text):
		return 0, may
	}
	return 0, misses
}

// any compares the beginning of b with several patterns. The first that fits,
// or may, decides.
func (h *holes) any(patterns []string, b []byte, last bool) (int, fit) {
	for _, p := range patterns {
		if differ(p, b) {
			continue
		}
		if n, f := h.match(p, b, last); f != misses {
			return n, f
		}
	}
	return 0, misses
}

// differ reports, at little cost, that b does not begin with a pattern: most
// texts that begin like a tag are something else at the third byte.
func differ(pattern string, b []byte) bool {
	const n = 3
	if len(b) < n || len(pattern) < n {
		return false
	}
	for i := range n {
		if c := pattern[i]; c == '{' || isSpace(c) {
			return false
		} else if c != b[i] {
			return true
		}
	}
	return false
}

// until looks for the first place in b where one of the patterns stands, or
// may: where, and how long it is. The text before it may not be longer than maxHead, and
// has neither a line feed nor an angle bracket in it.
func (h *holes) until(patterns []string, b []byte, last bool) (at, n int, f fit) {
	for at = range b[:min(len(b), maxHead)] {
		if n, f = h.any(patterns, b[at:], last); f != misses {
			return at, n, f
		}
		if c := b[at]; c == '\n' || c == '<' || c == '>' {
			return at, 0, misses
		}
	}
	if last || len(b) >= maxHead {
		return at, 0, misses
	}
	return len(b), 0, may
}

// blank counts white space at the beginning of b.
func blank(b []byte) int {
	n := 0
	for n < len(b) && n < maxBlank && isSpace(b[n]) {
		n++
	}
	return n
}
