package template

import (
	"bytes"
	"slices"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// again is how many bytes a Render may render once more to find places. What
// is not found for that is looked for in the next Render.
const again = 8 << 20

// Ends that are not found.
const (
	notTried = 0
	nowhere  = -1
)

// places finds where the items stand, and of them the turn's messages. Where
// the rendering does not tell the place of an answer, which is when it is not
// printed by a loop over the messages, it stands between the ends of what is
// printed for the messages up to the one before it, and up to it.
func (f *form) places(p *Page, tn *turn.Turn) {
	p.Spans = slices.Grow(p.Spans[:0], len(tn.Messages))[:len(tn.Messages)]
	for i := range p.Spans {
		p.Spans[i] = Span{-1, 0}
	}
	p.end = -1
	left := again
	for i, s := range p.memo.Spans() {
		it := &p.plan.items[i]
		at := Span{s.Start, s.End}
		if s.Start < 0 && it.role == turn.Assistant && i > 0 {
			at = Span{f.endOf(p, tn, i-1, &left), f.endOf(p, tn, i, &left)}
		}
		if at.Start < 0 || at.End < at.Start {
			at = unknown
		}
		p.end = at.End
		for _, x := range p.plan.pieces[it.from:it.to] {
			p.Spans[x.message] = p.Spans[x.message].and(at)
		}
	}
	for i := range p.Spans {
		if p.Spans[i].Start < 0 {
			p.Spans[i] = unknown
		}
	}
}

// spanOf is the place of message i in what was rendered last, below 0 where
// that is not told, as of a template that does not look at the messages.
func spanOf(m *jinja.Memo, i int) jinja.Span {
	if all := m.Spans(); i < len(all) {
		return all[i]
	}
	return jinja.Span{Start: -1, End: -1}
}

// unplace forgets the ends that are behind what stayed of the text; and, where
// more than the end of the text has changed, that some were not found.
func (p *Page) unplace(stale bool) {
	for i := range p.made {
		if x := &p.made[i]; x.end > p.Same || stale && x.end == nowhere {
			x.end = notTried
		}
	}
}

// and is the span of both. A Start of −1 stands for nothing yet where End is
// 0, and for what is not known else.
func (s Span) and(more Span) Span {
	switch {
	case more.Start < 0 || s == unknown:
		return unknown
	case s.Start < 0:
		return more
	}
	return Span{min(s.Start, more.Start), max(s.End, more.End)}
}

// endOf is where the text of the first i+1 items ends, negative when what is
// printed for them alone is not what the text begins with.
func (f *form) endOf(p *Page, tn *turn.Turn, i int, left *int) int {
	x := &p.made[i]
	if x.end != notTried {
		return x.end
	}
	if *left <= 0 {
		return nowhere
	}
	ctx := f.variables(p, tn, p.list[:i+1], false)
	text, err := f.jinja.Render(f.spares.take(), jinja.Mapping(ctx), jinja.Options{Now: p.clock})
	defer f.spares.put(text)
	*left -= len(text) + 1
	x.end = nowhere
	if err == nil && len(text) > 0 && bytes.HasPrefix(p.Text, text) {
		x.end = len(text)
	}
	return x.end
}
