package tui

import (
	"strings"
	"time"
)

// span is clean text with one meaning.
type span struct {
	s string
	m meaning
}

// line is what stands in one row of cells.
type line []span

// brush is what every panel draws with.
type brush struct {
	g     *glyphs
	ascii bool
	now   time.Time
	view  *View
}

func newBrush(v *View) *brush {
	b := &brush{g: &unicodeGlyphs, ascii: v.ASCII, now: v.Now, view: v}
	if v.ASCII {
		b.g = &asciiGlyphs
	}
	return b
}

// say makes a line of one span.
func say(s string, m meaning) line { return line{{s, m}} }

// join puts lines one after the other.
func join(parts ...line) line {
	var l line
	for _, p := range parts {
		l = append(l, p...)
	}
	return l
}

// width returns the cells that l takes.
func (l line) width() int {
	n := 0
	for _, s := range l {
		n += width(s.s)
	}
	return n
}

// text returns l without its meanings.
func (l line) text() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.s)
	}
	return b.String()
}

// all returns l with every span in one meaning.
func (l line) all(m meaning) line {
	out := make(line, len(l))
	for i, s := range l {
		out[i] = span{s.s, m}
	}
	return out
}

// side is the side of a cell that its text stands at.
type side uint8

const (
	left side = iota
	right
)

// fit makes l exactly n cells wide: it cuts what is too much, with a sign,
// and fills what is missing with spaces, away from side.
func (b *brush) fit(l line, n int, at side) line {
	w := l.width()
	switch {
	case n <= 0:
		return nil
	case w == n:
		return l
	case w < n:
		fill := span{strings.Repeat(" ", n-w), plain}
		if at == right {
			return append(line{fill}, l...)
		}
		return append(l[:len(l):len(l)], fill)
	}
	var out line
	room := n - 1
	last := plain
	for _, s := range l {
		part := cut(s.s, room)
		room -= width(part)
		last = s.m
		out = append(out, span{part, s.m})
		if part != s.s {
			break
		}
	}
	out = append(out, span{b.g.more, last})
	if room > 0 { // half of a wide sign did not fit
		out = append(out, span{strings.Repeat(" ", room), last})
	}
	return out
}

// blank is n spaces.
func blank(n int) line { return say(strings.Repeat(" ", max(n, 0)), plain) }
