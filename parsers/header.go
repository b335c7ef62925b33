package parsers

import (
	"strings"
)

// header reads the header of a call, from behind the part of the marker that
// is live in text: the rest of it, the name, and what ends the name.
type header struct {
	spec *Spec
	rest []part   // of the opening marker
	ends [][]part // what may end the name
	at   int      // of rest
	text []byte   // of the name
	id   []byte
	one  []part // what has ended the name, from here on
	done bool   // the name was read
}

// part is a piece of a header: text that has to stand there, or what stands in
// braces.
type part struct {
	text string
	hole string // "id" or "index"
}

// parts takes a header's text apart.
func parts(t string) []part {
	var p []part
	for t != "" {
		text, after, found := strings.Cut(t, "{")
		if text != "" {
			p = append(p, part{text: text})
		}
		if !found {
			break
		}
		hole, rest, _ := strings.Cut(after, "}")
		p = append(p, part{hole: hole})
		t = rest
	}
	return p
}

// begin makes it ready for a header whose marker began with open.
func (h *header) begin(spec *Spec, open string) {
	if h.spec != spec {
		h.spec = spec
		h.ends = h.ends[:0]
		for _, t := range spec.Call.NameEnd {
			h.ends = append(h.ends, parts(t))
		}
	}
	h.rest = nil
	for _, t := range spec.Call.Open {
		if head(t) == open {
			h.rest = parts(t[len(open):])
			break
		}
	}
	h.at, h.done, h.one = 0, false, nil
	h.text, h.id = h.text[:0], h.id[:0]
}

// fresh reports whether nothing of the header was read that tells it from a
// list of calls.
func (h *header) fresh() bool { return h.at == 0 && len(h.rest) == 0 && len(h.text) == 0 && !h.done }

// read reads as far as b goes; whole means that the header ended.
func (h *header) read(b []byte, last bool) (n int, p progress) {
	for {
		var k int
		switch {
		case h.at < len(h.rest):
			if k, p = h.piece(h.rest, h.at, b[n:], last); p == whole {
				h.at++
			}
		case !h.done:
			k, p = h.name(b[n:], last)
		case len(h.one) > 0:
			if k, p = h.piece(h.one, 0, b[n:], last); p == whole {
				h.one = h.one[1:]
			}
		default:
			return n, whole
		}
		n += k
		if p != whole {
			return n, p
		}
	}
}

// piece reads one part of a list of them.
func (h *header) piece(list []part, i int, b []byte, last bool) (n int, p progress) {
	for n < len(b) && isSpace(b[n]) {
		n++
	}
	if t := list[i].text; t != "" {
		t = strings.TrimSpace(t)
		switch {
		case hasPrefix(b[n:], t):
			return n + len(t), whole
		case !last && begun(b[n:], t):
			return n, more
		}
		return n, broken
	}
	until := ""
	if i+1 < len(list) {
		until = strings.TrimSpace(list[i+1].text)
	}
	for ; n < len(b); n++ {
		c := b[n]
		switch {
		case until != "" && hasPrefix(b[n:], until), until == "" && !isNaming(c):
			return n, whole
		case until != "" && !last && begun(b[n:], until):
			return n, more
		case !isNaming(c) && !isSpace(c) || len(h.id) > maxName:
			return n, broken
		case list[i].hole == "id" && !isSpace(c):
			h.id = append(h.id, c)
		}
	}
	return n, more
}

// name reads the name and what ends it, or begins to.
func (h *header) name(b []byte, last bool) (n int, p progress) {
	for n < len(b) {
		for _, end := range h.ends {
			if t := end[0].text; hasPrefix(b[n:], t) {
				if len(h.text) == 0 {
					return n, broken
				}
				h.done, h.one = true, end[1:]
				return n + len(t), whole
			}
		}
		for _, end := range h.ends {
			if !last && begun(b[n:], end[0].text) {
				return n, more
			}
		}
		c := b[n]
		switch {
		case isSpace(c) && len(h.text) == 0:
			n++
		case isSpace(c):
			// white space ends a name; where something else has to, it follows
			k := n
			for k < len(b) && isSpace(b[k]) {
				k++
			}
			switch {
			case len(h.ends) == 0:
				h.done = true
				return k, whole
			case k == len(b) && !last:
				return n, more
			}
			for _, end := range h.ends {
				if hasPrefix(b[k:], end[0].text) || !last && begun(b[k:], end[0].text) {
					n = k
				}
			}
			if n < k {
				return n, broken
			}
		case isNaming(c) && len(h.text) < maxName:
			h.text = append(h.text, c)
			n++
		case len(h.ends) == 0 && len(h.text) > 0:
			h.done = true
			return n, whole
		default:
			return n, broken
		}
	}
	return n, more
}

// isNaming reports whether c can stand in a name or an id.
func isNaming(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 ||
		c == '_' || c == '-' || c == '.' || c == ':' || c == '/' || c == '$'
}

// call is the name that the header says, and the id, "" where it has none.
func (h *header) call(offered *tools) (name, id string) {
	name, id = string(h.text), string(h.id)
	c := &h.spec.Call
	if c.ID == "header" {
		id = name
	}
	if c.Prefix == "" && c.ID == "" || offered.has(name) {
		return name, id
	}
	bare, found := strings.CutPrefix(name, c.Prefix)
	if short := uncount(bare, ":"); c.ID == "header" && (found || short != bare) {
		bare = short
	}
	if offered.has(bare) {
		return bare, id
	}
	// models write the separators differently
	stem := strings.TrimRight(c.Prefix, ".:_/")
	if loose, ok := strings.CutPrefix(name, stem); ok && stem != "" {
		loose = strings.TrimLeft(loose, ".:_/")
		for _, sep := range []string{"", ":_.-"} {
			if t := uncount(loose, sep); offered.has(t) {
				return t, id
			}
		}
	}
	if t := uncount(name, ":_.-"); offered.has(t) {
		return t, id
	}
	return bare, id
}

// uncount cuts off a number that stands behind one of the separators.
func uncount(name, seps string) string {
	t := strings.TrimRight(name, "0123456789")
	if t != name && t != "" && strings.IndexByte(seps, t[len(t)-1]) >= 0 && len(t) > 1 {
		return t[:len(t)-1]
	}
	return name
}
