package prompt

import (
	"github.com/agentinfer/dyn/turn"
)

// desk is the work memory of one Build. What is on it is good for that Build
// only; desks go from one to the next.
type desk struct {
	m        *Model
	reader   reader
	messages []turn.Message // as rendered
	blocks   []turn.Block   // of those that differ from the client's
	tail     []uint32       // ids that are new
	keys     []Key          // of the turn's messages
}

// maxTail is how many ids a desk keeps room for.
const maxTail = 256 << 10

// desk takes work memory that no other Build uses.
func (m *Model) desk() *desk {
	if d, ok := m.desks.Get().(*desk); ok {
		return d
	}
	return &desk{m: m}
}

// clear gives the desk back, without what it holds of a turn.
func (m *Model) clear(d *desk) {
	clear(d.messages[:cap(d.messages)])
	clear(d.blocks[:cap(d.blocks)])
	d.reader.tidy()
	if cap(d.tail) > maxTail {
		d.tail = nil
	}
	m.desks.Put(d)
}

// shown returns the messages to be rendered: those of t, and in answers that
// the model gave its reasoning, whether the client kept it or not. The
// template then decides whether it is printed.
func (d *desk) shown(t *turn.Turn, said []*turn.RawTurn) []turn.Message {
	d.messages = append(d.messages[:0], t.Messages...)
	d.blocks = d.blocks[:0]
	for i, s := range said {
		if s == nil || s.Thinking == "" {
			continue
		}
		from := len(d.blocks)
		d.blocks = append(d.blocks, turn.Block{Kind: turn.ThinkingBlock, Text: s.Thinking})
		for _, b := range t.Messages[i].Blocks {
			if b.Kind != turn.ThinkingBlock {
				d.blocks = append(d.blocks, b)
			}
		}
		d.messages[i].Blocks = d.blocks[from:len(d.blocks):len(d.blocks)]
	}
	return d.messages
}
