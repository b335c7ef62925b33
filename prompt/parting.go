package prompt

import (
	"bytes"
	"strings"

	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/turn"
)

// noted is what a State keeps of its last turn besides the prompt, so that the
// next one can be told from it.
type noted struct {
	sketch   diff.Sketch
	opening  int // ids of the generation prompt
	tools    []turn.Tool
	thinking turn.Thinking
	kind     string
	last     uint64 // rolling hash of its messages
}

// note takes t, whose prompt was just built; its first same messages are as
// they were.
func (n *noted) note(t *turn.Turn, p *Prompt, same int) {
	n.sketch.Follow(t.Messages, same)
	n.opening, n.tools, n.thinking, n.kind = len(p.Opening), t.Tools, t.Thinking, t.Who.Kind
	n.last = p.Rolling[len(p.Rolling)-1]
}

// former is a prompt that another is compared with.
type former struct {
	*noted
	ids  turn.IDs
	root uint64
}

// former is the State's last prompt; ok is false where there is none.
func (s *State) former() (f former, ok bool) {
	f = former{&s.noted, s.ids, s.known.root}
	return f, s.ids.Len() > 0 && s.sketch.Len() > 0
}

// content is how many of the ids are of messages.
func (f *former) content() int { return f.ids.Len() - f.opening }

// parting looks for the break between a former prompt and the one just built.
type parting struct {
	*builder
	p    *Prompt
	was  *former
	own  *turn.Turn    // as the client has it
	from int           // messages before are as they were
	said *turn.RawTurn // the answer to the former prompt, where it is known
	at   int           // the first id that differs
	x    int           // and where that is in the text, to the byte
}

// parts tells where the prompt just built parts from a former one, nil where it
// goes on from there: where all that it says is new stands behind what the
// former said. from is how many messages at the start are known to be as they
// were. Turns that have nothing in common are not compared.
func (b *builder) parts(p *Prompt, was *former, own *turn.Turn, from int, raw *Raw) *diff.Break {
	d := parting{builder: b, p: p, was: was, own: own, from: from, at: p.Same}
	if was.root != b.s.known.root || !d.breaks(raw) {
		return nil
	}
	text := d.text()
	place, kind, ok := d.cause(text)
	if !ok {
		return nil
	}
	out := &diff.Break{Kind: kind, Token: d.at, Held: was.ids.Len(), Text: text}
	place.Into(out)
	if d.said != nil {
		out.Held += len(d.said.IDs)
	}
	if i := place.Message; i >= 0 && i < len(own.Messages) {
		out.Role = string(own.Messages[i].Role)
		if j := place.Block; j >= 0 && j < len(own.Messages[i].Blocks) {
			text.Tool = own.Messages[i].Blocks[j].Name
		}
	}
	if i := place.Tool; i >= 0 && i < len(own.Tools) {
		text.Tool = own.Tools[i].Name
	}
	out.Again = min(d.again(place, kind), max(out.Held-d.at, 0))
	return out
}

// breaks finds the first id that is not what the former prompt and its answer
// had there; false where the prompt goes on from them, or stops before. Of a
// prompt that goes on, no more than the answer is looked at.
func (d *parting) breaks(raw *Raw) bool {
	was, n := d.was, d.was.sketch.Len()
	end := d.p.IDs.Len() - len(d.p.Opening)
	if d.at < was.content() {
		d.said = raw.answer(was.last)
		return d.at < end
	}
	if d.from < n || n >= len(d.own.Messages) || d.own.Messages[n].Role != turn.Assistant {
		return false
	}
	if d.said = d.s.known.said[n]; d.said == nil {
		d.said = raw.answer(was.last)
	}
	if d.said == nil {
		return false
	}
	if d.at == was.ids.Len() {
		d.at += d.p.IDs.Same(d.at, d.said.IDs)
	}
	return d.at < was.ids.Len()+len(d.said.IDs) && d.at < end
}

// How many ids are spelled for a person to read, before the place and behind.
const (
	before = 48
	behind = 96
)

// text spells what stood and what stands at the place, and finds the very byte.
func (d *parting) text() *diff.Text {
	from := max(d.at-before, 0)
	head := d.spell(nil, d.p.IDs, nil, from, d.at)
	var said []uint32
	if d.said != nil {
		said = d.said.IDs
	}
	old := d.spell(nil, d.was.ids, said, d.at, d.at+behind)
	now := d.spell(nil, d.p.IDs, nil, d.at, d.at+behind)
	n := commonPrefix(old, now)
	d.x = min(d.textAt(d.at)+n, len(d.builder.text))
	return diff.Around(head, old, now, n)
}

// spell appends the text of ids, and of more behind them, from one up to another.
func (d *parting) spell(dst []byte, ids turn.IDs, more []uint32, from, to int) []byte {
	for i := from; i < min(to, ids.Len()+len(more)); i++ {
		id := uint32(0)
		if i < ids.Len() {
			id = ids.At(i)
		} else {
			id = more[i-ids.Len()]
		}
		dst = append(dst, d.m.tok.Token(id)...)
	}
	return dst
}

// textAt is where in the text an id begins; where its piece does, of an answer
// that stands in ids of its own.
func (b *builder) textAt(id int) int {
	text, n := 0, 0
	for i := range b.s.pieces {
		p := &b.s.pieces[i]
		if p.ids > id {
			for ; n < id && !p.spliced; n++ {
				text += len(b.m.tok.Token(b.s.ids.At(n)))
			}
			return text
		}
		text, n = p.text, p.ids
	}
	return text
}

// holder is the message in whose span the place lies, −1 for none; of several
// the first that changed.
func (d *parting) holder(changed [][]diff.Change) int {
	first := -1
	for i, at := range d.s.page.Spans {
		if at.Start > d.x || d.x >= at.End {
			continue
		}
		if i < len(changed) && len(changed[i]) > 0 {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}

// again is how many ids behind the place are of what the former turn said too,
// or of the message that stands in another one's place.
func (d *parting) again(place diff.Change, kind diff.Kind) int {
	from := max(place.Message, 0)
	last := -1
	for i, kept := range d.was.sketch.Kept(d.own.Messages, min(from, d.was.sketch.Len())) {
		if kept {
			last = i
		}
	}
	if place.Message < 0 && from == 0 && d.from > 0 {
		last = max(last, d.from-1)
	}
	replaced := kind != diff.Rewound && kind != diff.Compaction && place.Message >= 0
	if replaced {
		last = max(last, place.Message)
	}
	n := d.was.sketch.Len()
	if last == n-1 && n < len(d.own.Messages) && d.own.Messages[n].Role == turn.Assistant {
		last = n // the answer
	}
	if last < 0 {
		return 0
	}
	return max(d.idsAt(d.end(last))-d.at, 0)
}

// field is in which block and field of message i the place lies, as its text is
// printed: the last whose beginning is not behind it. Where the message's own
// place is elsewhere it is looked for in all of the text.
func (d *parting) field(i int) (block int, field string) {
	at, m := d.s.page.Spans[i], &d.own.Messages[i]
	if d.x < at.Start || at.End <= d.x {
		at.Start, at.End = 0, len(d.builder.text)
	}
	block, field = -1, diff.FieldRole
	pos := at.Start
	find := func(s string, j int, name string) (end int, ok bool) {
		s = strings.TrimSpace(s)
		n := bytes.Index(d.builder.text[pos:at.End], []byte(s))
		if s == "" || n < 0 || pos+n > d.x {
			return 0, false
		}
		end = pos + n + len(s)
		block, field = j, name
		pos = min(end, d.x)
		return end, true
	}
	for j := range m.Blocks {
		switch b := &m.Blocks[j]; b.Kind {
		case turn.ThinkingBlock:
			find(b.Text, j, diff.FieldThinking)
		case turn.ToolUse:
			if end, ok := find(b.Name, j, diff.FieldName); ok && d.x > end {
				field = diff.FieldArgs
			}
		default:
			find(b.Text, j, diff.FieldText)
		}
	}
	return block, field
}

// within reports whether the place lies in a block of message i, as its text is
// printed.
func (d *parting) within(i, block int) bool {
	if block < 0 || block >= len(d.own.Messages[i].Blocks) {
		return false
	}
	s := strings.TrimSpace(d.own.Messages[i].Blocks[block].Text)
	n := bytes.Index(d.builder.text, []byte(s))
	return s != "" && n >= 0 && n <= d.x && d.x <= n+len(s)
}
