package prompt

import (
	"bytes"
	"strings"

	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/turn"
)

// Drops is when a template prints an answer's reasoning no more.
type Drops uint8

// The times.
const (
	DropsNone   Drops = iota // it always prints it
	DropsClosed              // once a person has spoken behind it: the loop of calls that it belongs to is closed
	DropsAll                 // from the next turn on
)

// Drops tells when the model's template prints an answer's reasoning no more.
// What stood in a cache from there on is then good for nothing.
func (m *Model) Drops() Drops { return m.drops }

// findDrops has the template print reasoning in an open loop and in a closed
// one, and looks whether it is there.
func (m *Model) findDrops() {
	const thought = "zqxthoughtzqx"
	says := func(role turn.Role, blocks ...turn.Block) turn.Message {
		return turn.Message{Role: role, Blocks: blocks}
	}
	text := turn.Block{Kind: turn.Text, Text: "so"}
	thinks := turn.Block{Kind: turn.ThinkingBlock, Text: thought}
	call := turn.Block{Kind: turn.ToolUse, ID: "c1", Name: "look", Args: []byte(`{}`)}
	result := turn.Block{Kind: turn.ToolResult, ID: "c1", Text: "seen"}
	look := turn.Tool{Name: "look", Bare: "look", Schema: []byte(`{"type":"object","properties":{}}`)}
	drops := func(tools []turn.Tool, ms ...turn.Message) bool {
		var p template.Page
		err := m.template.Render(&p, &turn.Turn{Messages: ms, Tools: tools, Thinking: turn.Thinking{Mode: "on"}})
		return err == nil && !bytes.Contains(p.Text, []byte(thought))
	}
	switch {
	case !drops(nil, says(turn.User, text), says(turn.Assistant, thinks, text), says(turn.User, text)):
	case drops([]turn.Tool{look}, says(turn.User, text), says(turn.Assistant, thinks, call), says(turn.ToolRole, result)):
		m.drops = DropsAll
	default:
		m.drops = DropsClosed
	}
}

// lasting is how many ids a later prompt begins with when a person speaks next.
func (b *builder) lasting() int {
	ms := b.t.Messages
	if b.m.drops != DropsClosed {
		return b.s.ids.Len()
	}
	first := -1 // answer with reasoning since a person spoke
	for i := len(ms) - 1; i >= 0 && ms[i].Role != turn.User; i-- {
		if ms[i].Role == turn.Assistant && reasons(&ms[i]) {
			first = i
		}
	}
	if first < 0 {
		return b.s.ids.Len()
	}
	return b.idsAt(b.start(first))
}

// reasons reports whether an answer holds reasoning.
func reasons(m *turn.Message) bool {
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == turn.ThinkingBlock && strings.TrimSpace(b.Text) != "" {
			return true
		}
	}
	return false
}
