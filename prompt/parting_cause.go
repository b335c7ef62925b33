package prompt

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/turn"
)

// fewest is how many ids at the end of a former prompt may be others because
// more is said: marks that end a message, which are no loss.
const fewest = 16

// cause finds the change that the break comes from, and names it. ok is false
// where it is none: the turns are of different lines, or the last message was
// only added to.
func (d *parting) cause(text *diff.Text) (diff.Change, diff.Kind, bool) {
	n := min(d.was.sketch.Len(), len(d.own.Messages))
	changed := make([][]diff.Change, n)
	some := false
	for i := d.from; i < n; i++ {
		changed[i] = d.was.sketch.Message(i, &d.own.Messages[i])
		some = some || len(changed[i]) > 0
	}
	tool, kind, tools := diff.Tools(d.was.tools, d.t.Tools)
	hold := d.holder(changed)
	switch {
	case d.unrelated(tools):
		return tool, "", false
	case hold >= 0 && hold < n && len(changed[hold]) > 0 && !(tools && hold == 0 && d.beside(changed[hold])):
		return d.message(hold, changed[hold], text)
	case tools && d.inSystem(changed):
		return d.message(0, changed[0], text)
	case tools && d.own.Who.Kind == kindCompaction: // without tools, or with a prompt of its own
		return tool, diff.Compaction, true
	case tools:
		return tool, kind, true
	case d.was.thinking.Mode != d.own.Thinking.Mode || d.was.thinking.Effort != d.own.Thinking.Effort:
		return diff.Change{Message: -1, Block: -1, Tool: -1, Field: diff.FieldEffort}, diff.Effort, true
	case some:
		i := slices.IndexFunc(changed, printed)
		if i < 0 {
			i = slices.IndexFunc(changed, func(c []diff.Change) bool { return len(c) > 0 })
		}
		return d.message(i, changed[i], text)
	}
	return d.unchanged(hold)
}

// kindCompaction is the kind of a turn that asks for a summary.
const kindCompaction = "compaction"

// printed reports whether some of the changes are of what templates print.
func printed(cs []diff.Change) bool {
	return slices.ContainsFunc(cs, func(c diff.Change) bool { return c.Field != diff.FieldID })
}

// unrelated reports whether the two turns have nothing in common but that one
// came after the other.
func (d *parting) unrelated(tools bool) bool {
	if d.from > 0 || 2*d.at >= d.was.content() || !tools && len(d.t.Tools) > 0 {
		return false
	}
	return !slices.Contains(d.was.sketch.Kept(d.own.Messages, 0), true)
}

// beside reports whether the place lies in none of the texts that changed.
func (d *parting) beside(cs []diff.Change) bool {
	block, _ := d.field(cs[0].Message)
	return !slices.ContainsFunc(cs, func(c diff.Change) bool { return c.Block == block })
}

// inSystem reports whether the place lies in a text of the system's that changed,
// where the template prints it in no place of its own: the tools stand with it.
func (d *parting) inSystem(changed [][]diff.Change) bool {
	if len(changed) == 0 || d.own.Messages[0].Role != turn.System {
		return false
	}
	return slices.ContainsFunc(changed[0], func(c diff.Change) bool { return d.within(0, c.Block) })
}

// message picks, of the changes of message i, the one at the place, and names
// it.
func (d *parting) message(i int, cs []diff.Change, text *diff.Text) (diff.Change, diff.Kind, bool) {
	c := cs[0]
	if len(cs) > 1 {
		block, field := d.field(i)
		at := slices.IndexFunc(cs, func(c diff.Change) bool { return c.Block == block && c.Field == field })
		if at < 0 {
			at = slices.IndexFunc(cs, func(c diff.Change) bool { return c.Field != diff.FieldID })
		}
		c = cs[max(at, 0)]
	}
	if d.grew(i, c, text) {
		return c, "", false
	}
	return c, d.name(i, c, text), true
}

// grew reports whether message i is the former turn's last one and was only
// added to, as by a reminder.
func (d *parting) grew(i int, c diff.Change, text *diff.Text) bool {
	if i != d.was.sketch.Len()-1 || d.was.content()-d.at > fewest {
		return false
	}
	more := c.Field == diff.FieldBlocks && c.Block == d.was.sketch.Blocks(i)
	return more || strings.HasPrefix(strings.TrimLeft(text.Now[text.At:], "\n"), reminderOpen)
}

// name is the kind of a change of message i.
func (d *parting) name(i int, c diff.Change, text *diff.Text) diff.Kind {
	m := &d.own.Messages[i]
	client := m.Role == turn.System || m.Role == turn.User
	switch k := diff.ByText(text); {
	case d.own.Who.Kind == kindCompaction, d.was.kind == kindCompaction && i <= 1+d.leading():
		return diff.Compaction
	case k == diff.Attribution || k == diff.Clock, k != "" && client:
		return k
	case c.Field == diff.FieldThinking:
		return diff.Thinking
	case d.summed(i):
		return diff.Compaction
	case m.Role == turn.System:
		return diff.System
	case m.Role == turn.User && !slices.Contains(d.was.sketch.Kept(d.own.Messages, i), true) && d.was.sketch.Len() > i+1:
		return diff.Rewound
	}
	return diff.Edited
}

// leading is how many messages at the start are the system's.
func (d *parting) leading() int {
	if len(d.own.Messages) > 0 && d.own.Messages[0].Role == turn.System {
		return 1
	}
	return 0
}

// summed reports whether from message i on, a summary stands for what was said:
// the conversation is shorter than it was, or the words by which a summary is
// known begin to stand there. Where they stood before too, some other word of a
// summary was edited.
func (d *parting) summed(i int) bool {
	shorter := len(d.own.Messages) < d.was.sketch.Len()
	for j := i; j < min(i+3, len(d.own.Messages)); j++ {
		for k := range d.own.Messages[j].Blocks {
			if b := &d.own.Messages[j].Blocks[k]; b.Kind == turn.Text && diff.Summary(b.Text) && (shorter || !d.stoodSummary(j)) {
				return true
			}
		}
	}
	return false
}

// stoodSummary reports whether message i said before the place that it is a
// summary.
func (d *parting) stoodSummary(i int) bool {
	at := d.s.page.Spans[i]
	return at.Start >= 0 && at.Start < d.x && diff.Summary(string(d.builder.text[at.Start:min(d.x, at.End)]))
}

// unchanged names a break between turns of which one goes on from the other:
// the template prints what was said another way now, or the client has the
// model's answer in other words.
func (d *parting) unchanged(hold int) (c diff.Change, k diff.Kind, ok bool) {
	c = diff.Change{Message: hold, Block: -1, Tool: -1, Field: diff.FieldText}
	if hold < 0 {
		return c, diff.Template, d.was.content()-d.at > fewest
	}
	m, said := &d.own.Messages[hold], d.s.known.said[hold]
	c.Block, c.Field = d.field(hold)
	answer := d.at >= d.was.content() // which breaks knows
	switch {
	case answer && said == nil && thinksAlike(m, d.said.Thinking): // not what the model said
		return c, diff.Edited, true
	case answer && said == nil, thoughtful(m, said) && (said == nil || !d.thought(hold, said)):
		c.Field = diff.FieldThinking
		return c, diff.Thinking, true
	}
	return c, diff.Template, answer || d.was.content()-d.at > fewest
}

// thought reports whether the reasoning of an answer is printed.
func (d *parting) thought(i int, said *turn.RawTurn) bool {
	at := d.s.page.Spans[i]
	return keeps(d.builder.text[max(at.Start, 0):max(at.End, 0)], said.Thinking, &d.own.Messages[i])
}

// thoughtful reports whether there was reasoning in a message, as the client has
// it or as the model gave it.
func thoughtful(m *turn.Message, said *turn.RawTurn) bool {
	return said != nil && said.Thinking != "" ||
		slices.ContainsFunc(m.Blocks, func(b turn.Block) bool { return b.Kind == turn.ThinkingBlock && !blank(b.Text) })
}
