package parsers

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// meaning is what a marker does.
type meaning uint8

const (
	opensThought meaning = iota
	closesThought
	opensSection
	opensCall
	closes // a call or a section
	absorbed
	learned // the beginning of a tag with another suffix
)

// mark is one spelling of a marker.
type mark struct {
	text string
	does meaning
}

// marks are the markers that count in one state.
type marks struct {
	list  []mark // longest first
	first [256]bool
	only  int // the first byte of all, -1 when they differ
}

// add puts markers in. What is there already stays as it is.
func (m *marks) add(does meaning, texts ...string) {
	for _, t := range texts {
		if t != "" && !slices.ContainsFunc(m.list, func(k mark) bool { return k.text == t }) {
			m.list = append(m.list, mark{text: t, does: does})
		}
	}
	slices.SortStableFunc(m.list, func(a, b mark) int { return cmp.Compare(len(b.text), len(a.text)) })
	m.only = -1
	for i, k := range m.list {
		m.first[k.text[0]] = true
		if i == 0 {
			m.only = int(k.text[0])
		} else if m.only != int(k.text[0]) {
			m.only = -1
		}
	}
}

// at looks for a marker at the beginning of b. wait means that there may be
// one, or a longer one, once more is there; last that nothing follows b.
func (m *marks) at(b []byte, last bool) (k *mark, wait bool) {
	if len(b) == 0 || !m.first[b[0]] {
		return nil, false
	}
	for i := range m.list {
		switch t := m.list[i].text; {
		case hasPrefix(b, t):
			return &m.list[i], false
		case !last && begun(b, t):
			return nil, true
		}
	}
	return nil, false
}

// scan finds the first marker in b, or the place from which b may begin one;
// n is len(b) when there is neither.
func (m *marks) scan(b []byte, last bool) (n int, k *mark, wait bool) {
	for n < len(b) {
		if n = m.next(b, n); n == len(b) {
			break
		}
		if k, wait = m.at(b[n:], last); k != nil || wait {
			break
		}
		n++
	}
	return n, k, wait
}

// next finds the first byte of a marker, from n on.
func (m *marks) next(b []byte, n int) int {
	if m.only >= 0 {
		if i := bytes.IndexByte(b[n:], byte(m.only)); i >= 0 {
			return n + i
		}
		return len(b)
	}
	if len(m.list) == 0 {
		return len(b)
	}
	for ; n < len(b); n++ {
		if m.first[b[n]] {
			break
		}
	}
	return n
}

// hasPrefix reports whether b begins with t.
func hasPrefix(b []byte, t string) bool { return len(b) >= len(t) && string(b[:len(t)]) == t }

// begun reports whether b is the beginning of t and not all of it.
func begun(b []byte, t string) bool { return len(b) < len(t) && t[:len(b)] == string(b) }

// head is the part of a marker before its first brace.
func head(t string) string {
	h, _, _ := strings.Cut(t, "{")
	return h
}

// heads are the heads of markers.
func heads(m Marks) []string {
	h := make([]string, len(m))
	for i, t := range m {
		h[i] = head(t)
	}
	return h
}

// meets looks for one of the texts at the beginning of b: how long it is, or 0;
// wait means that it may be one once more is there.
func meets(b []byte, last bool, texts Marks) (n int, wait bool) {
	for _, t := range texts {
		switch {
		case hasPrefix(b, t):
			n = max(n, len(t))
		case !last && begun(b, t):
			wait = true
		}
	}
	return n, wait && n == 0
}

// end says what the marker at the end of a text does, white space aside; the
// longest one counts.
func (m *marks) end(text string) (meaning, bool) {
	text = strings.TrimRight(text, spaces)
	for _, k := range m.list {
		if strings.HasSuffix(text, k.text) {
			return k.does, true
		}
	}
	return 0, false
}

// nextIn is next for a string.
func (m *marks) nextIn(b string, n int) int {
	if m.only >= 0 {
		if i := strings.IndexByte(b[n:], byte(m.only)); i >= 0 {
			return n + i
		}
		return len(b)
	}
	if len(m.list) == 0 {
		return len(b)
	}
	for ; n < len(b); n++ {
		if m.first[b[n]] {
			break
		}
	}
	return n
}

// mayAt reports whether a marker stands at the beginning of b, or may.
func (m *marks) mayAt(b string) bool {
	for i := range m.list {
		if t := m.list[i].text; strings.HasPrefix(b, t) || strings.HasPrefix(t, b) {
			return true
		}
	}
	return false
}
