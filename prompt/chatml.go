package prompt

import (
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// chatML renders ChatML with hermes calls.
type chatML struct {
	style
	tools *toolPage

	// apart is set when tool response tags are tokens of their own, so that
	// each message of results can be tokenised apart.
	apart bool
}

const (
	imEnd     = "<|im_end|>\n"
	assistant = "<|im_start|>assistant\n"
	noThought = "<think>\n\n</think>\n\n"
)

// Render renders t. It never fails.
func (c *chatML) Render(t *turn.Turn) ([]Segment, error) {
	p := page{t: t, c: c, last: lastQuery(t.Messages)}
	p.b.Grow(p.room())
	first := p.system()
	for i := first; i < len(t.Messages); i++ {
		p.message(i)
	}
	p.b.WriteString(assistant)
	switch {
	case c.opened:
		p.b.WriteString("<think>\n")
	case c.switched && silent(t.Thinking):
		p.b.WriteString(noThought)
	}
	p.cut(len(t.Messages), len(assistant), 0)
	return p.segments(), nil
}

// silent reports whether the client turned thinking off.
func silent(th turn.Thinking) bool {
	return th.Mode == "off" || th.Mode == "" && th.Effort == "none"
}

// page is one rendering under way.
type page struct {
	t    *turn.Turn
	c    *chatML
	last int // index of the last message in which a user asks
	b    strings.Builder
	cuts []Segment // Text unset
	ends []int     // where the cuts end in b
}

// room is the size of what is to be rendered, roughly.
func (p *page) room() int {
	n := 4096
	for i := range p.t.Tools {
		n += len(p.t.Tools[i].Schema)*5/4 + len(p.t.Tools[i].Description) + 128
	}
	for i := range p.t.Messages {
		for j := range p.t.Messages[i].Blocks {
			b := &p.t.Messages[i].Blocks[j]
			n += len(b.Text) + len(b.Args)*5/4 + 96
		}
	}
	return n
}

// cut ends a segment here.
func (p *page) cut(message, head, foot int) {
	p.cuts = append(p.cuts, Segment{Message: message, Head: head, Foot: foot})
	p.ends = append(p.ends, p.b.Len())
}

// segments gives the cuts their text.
func (p *page) segments() []Segment {
	all, from := p.b.String(), 0
	for i := range p.cuts {
		p.cuts[i].Text = all[from:p.ends[i]]
		from = p.ends[i]
	}
	return p.cuts
}

// system renders the leading system message and the tools, and returns the
// index of the first message after.
func (p *page) system() int {
	text, next := p.c.system, 0
	if ms := p.t.Messages; len(ms) > 0 && ms[0].Role == turn.System {
		text, next = textOf(&ms[0]), 1
	}
	if len(p.t.Tools) == 0 {
		if next == 0 && text == "" {
			return 0
		}
		p.put("<|im_start|>system\n", text, imEnd)
		p.cut(next-1, 0, 0)
		return next
	}
	p.put("<|im_start|>system\n", text)
	if next == 1 || p.c.gap {
		p.b.WriteString("\n\n")
	}
	p.put(p.c.intro, p.c.tools.print(p.t.Tools), p.c.outro, imEnd)
	p.cut(next-1, 0, 0)
	return next
}

func (p *page) put(ss ...string) {
	for _, s := range ss {
		p.b.WriteString(s)
	}
}

// message renders message i, not a leading system message.
func (p *page) message(i int) {
	m := &p.t.Messages[i]
	switch m.Role {
	case turn.Assistant:
		p.assistant(i)
	case turn.ToolRole:
		p.results(i)
	default:
		p.put("<|im_start|>", string(m.Role), "\n")
		p.text(m)
		p.b.WriteString(imEnd)
		p.cut(i, 0, 0)
	}
}

// text writes the text of m, its blocks on lines of their own.
func (p *page) text(m *turn.Message) {
	some := false
	for i := range m.Blocks {
		s, ok := shown(&m.Blocks[i])
		if !ok {
			continue
		}
		if some {
			p.b.WriteByte('\n')
		}
		some = true
		p.b.WriteString(s)
	}
}

// shown is what a block of content prints, if it prints anything.
func shown(b *turn.Block) (string, bool) {
	switch b.Kind {
	case turn.Text:
		return b.Text, true
	case turn.Image:
		return "[image]", true
	case turn.Document:
		return "[document]", true
	}
	return "", false
}

// textOf is the text of m as one string.
func textOf(m *turn.Message) string {
	if len(m.Blocks) == 1 {
		s, _ := shown(&m.Blocks[0])
		return s
	}
	var p page
	p.text(m)
	return p.b.String()
}

// results renders a message of tool results. The results of neighbouring
// messages stand in one user message.
func (p *page) results(i int) {
	ms := p.t.Messages
	if i == 0 || ms[i-1].Role != turn.ToolRole {
		p.b.WriteString("<|im_start|>user")
	}
	some := false
	for j := range ms[i].Blocks {
		b := &ms[i].Blocks[j]
		s, ok := shown(b)
		if b.Kind == turn.ToolResult {
			s, ok = b.Text, true
		}
		if ok {
			p.put("\n<tool_response>\n", s, "\n</tool_response>")
			some = true
		}
	}
	more := i+1 < len(ms) && ms[i+1].Role == turn.ToolRole
	if !more {
		p.b.WriteString(imEnd)
	}
	if !more || p.c.apart && some {
		p.cut(i, 0, 0)
	}
}
