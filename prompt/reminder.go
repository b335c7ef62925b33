package prompt

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// The mark around a system message inside a conversation. It is the one that
// Claude Code puts around its own reminders.
const (
	reminderOpen  = "<system-reminder>"
	reminderClose = "</system-reminder>"
)

// mergeLeading makes one message of the system messages at the start, in
// order: templates know one.
func mergeLeading(ms []turn.Message) []turn.Message {
	n := 0
	for n < len(ms) && ms[n].Role == turn.System {
		n++
	}
	if n < 2 {
		return ms
	}
	var blocks []turn.Block
	for _, m := range ms[:n] {
		blocks = append(blocks, m.Blocks...)
	}
	ms[n-1] = turn.Message{Role: turn.System, Blocks: blocks}
	return ms[n-1:]
}

// foldReminders makes every system message that comes later a marked part of
// the message before it, where it stays: put at the front, each new one would
// change the prompt from its start. The first one, which clients send right
// after the first user message, is no exception: it tells of folder and date,
// and at the front it would end what sessions share before the tools, in
// templates that print the tools after the system text.
func foldReminders(ms []turn.Message) []turn.Message {
	first := 1
	for first < len(ms) && ms[first].Role != turn.System {
		first++
	}
	if first >= len(ms) {
		return ms
	}
	out := ms[:first]
	for _, m := range ms[first:] {
		if m.Role != turn.System {
			out = append(out, m)
			continue
		}
		last := &out[len(out)-1]
		switch n := len(last.Blocks); {
		case last.Role == turn.User:
			last.Blocks = append(slices.Clip(last.Blocks), reminders(m)...)
		case last.Role == turn.ToolRole && n > 0 && last.Blocks[n-1].Kind == turn.ToolResult && isText(m):
			last.Blocks = slices.Clone(last.Blocks)
			remindResult(&last.Blocks[n-1], m)
		default: // after an answer, or a system message that begins all
			out = append(out, turn.Message{Role: turn.User, Blocks: reminders(m)})
		}
	}
	clear(ms[len(out):])
	return out
}

// isText reports whether m holds text only.
func isText(m turn.Message) bool {
	return !slices.ContainsFunc(m.Blocks, func(b turn.Block) bool { return b.Kind != turn.Text })
}

// reminders are the blocks of a system message as marked text.
func reminders(m turn.Message) []turn.Block {
	bs := slices.Clone(m.Blocks)
	for i := range bs {
		if bs[i].Kind == turn.Text {
			bs[i].Text = marked(bs[i].Text)
		}
	}
	return bs
}

// remindResult puts a system message behind the text of a tool result. There
// it does not look like a user's question, which would end the loop that the
// model is in, and with some templates its reasoning.
func remindResult(b *turn.Block, m turn.Message) {
	parts := []string{b.Text}
	for _, r := range reminders(m) {
		parts = append(parts, r.Text)
		b.Lease = max(b.Lease, r.Lease)
	}
	b.Text = strings.Join(parts, "\n")
}

// marked is s as a reminder; what already is one stays.
func marked(s string) string {
	if strings.HasPrefix(strings.TrimLeft(s, space), reminderOpen) {
		return s
	}
	return reminderOpen + "\n" + s + "\n" + reminderClose
}
