package tui

import "strings"

// box is a panel's frame and what stands in it.
type box struct {
	panel  Panel
	title  string   // after the number
	heads  line     // column heads that stand in the upper edge; nil for none
	right  line     // at the right of the upper edge, when there are no heads
	foot   []string // in the lower edge, the most important first; those without room are left out
	loud   meaning  // of the foot; muted when it is plain
	rows   []line   // each is fitted to the inner width
	width  int
	height int // lines with both edges
}

// draw returns the lines of x: height lines of exactly width cells.
func (b *brush) draw(x box) []line {
	inner := x.width - 2
	edge, name := muted, plain
	if b.view.Focus == x.panel {
		edge, name = accent, accent
	}
	lines := make([]line, 0, x.height)
	title := line{{" " + x.title + " ", name}}
	if x.panel != NoPanel {
		title = line{{" ", edge}, {string(rune('0' + x.panel)), muted}, {" " + x.title + " ", name}}
	}
	if x.heads != nil {
		lines = append(lines, join(say(b.g.topLeft, edge), b.over(x.heads, title, inner, edge), say(b.g.topRight, edge)))
	} else {
		lines = append(lines, join(say(b.g.topLeft, edge), b.edge(title, x.right, inner, edge), say(b.g.topRight, edge)))
	}
	for i := range x.height - 2 {
		row := blank(inner)
		if i < len(x.rows) {
			row = b.fit(x.rows[i], inner, left)
		}
		lines = append(lines, join(say(b.g.down, edge), row, say(b.g.down, edge)))
	}
	return append(lines, join(say(b.g.bottomLeft, edge), b.edge(nil, b.foot(x, inner), inner, edge), say(b.g.bottomRight, edge)))
}

// foot joins the words of the lower edge that have room.
func (b *brush) foot(x box, n int) line {
	m := x.loud
	if m == plain {
		m = muted
	}
	words := x.foot
	for len(words) > 1 && width(strings.Join(words, " "+b.g.dot+" ")) > n-5 {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return nil
	}
	return say(strings.Join(words, " "+b.g.dot+" "), m)
}

// edge is the upper or lower edge between its corners: a title at the left
// and a word at the right, the title first where there is not room for both.
func (b *brush) edge(title, word line, n int, m meaning) line {
	if title != nil {
		title = join(say(b.g.across, m), title)
	}
	if title.width() > n {
		return b.fit(title, n, left)
	}
	if word != nil {
		word = join(say(" ", m), word, say(" ", m), say(b.g.across, m))
	}
	if room := n - title.width() - 1; word.width() > room {
		if room < 8 {
			word = nil
		} else {
			word = b.fit(word, room, left)
		}
	}
	gap := n - title.width() - word.width()
	return join(title, say(strings.Repeat(b.g.across, gap), m), word)
}

// over lays a title over the row of column heads that stands in an edge:
// spaces of the heads become the edge's line.
func (b *brush) over(heads, title line, n int, m meaning) line {
	text := []rune(b.fit(heads, n, left).text()) // heads are ASCII and signs of one cell
	title = join(say(b.g.across, m), title)
	from := title.width()
	if from >= n {
		return b.fit(title, n, left)
	}
	out := title
	rest := string(text[from:])
	if from > 0 && text[from-1] != ' ' { // a head that lies half under the title
		end := max(strings.IndexByte(rest, ' '), 0)
		rest = strings.Repeat(" ", end) + rest[end:]
	}
	for rest != "" {
		word := strings.TrimLeft(rest, " ")
		if gap := len(rest) - len(word); gap > 0 {
			out = append(out, span{strings.Repeat(b.g.across, gap), m})
		}
		end := strings.IndexByte(word, ' ')
		if end < 0 {
			end = len(word)
		}
		if end > 0 {
			out = append(out, span{word[:end], muted})
		}
		rest = word[end:]
	}
	return out
}

// beside puts blocks of lines next to each other; all have the same height.
func beside(blocks ...[]line) []line {
	if len(blocks) == 0 {
		return nil
	}
	out := make([]line, len(blocks[0]))
	for i := range out {
		for _, k := range blocks {
			out[i] = append(out[i], k[i]...)
		}
	}
	return out
}
