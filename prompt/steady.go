package prompt

import (
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// attribution begins the line that Claude Code puts before the system text.
// It changes from session to session and, in old clients, with every request.
const attribution = "x-anthropic-billing-header:"

// Steady brings a turn into the form that stays the same from request to
// request: the attribution line goes, text blocks that hold nothing go, a
// system message that held nothing else goes. The order of what stays is
// kept, and so is every ask for a lease: that of a dropped block moves to its
// neighbour. Call it once, right after decoding, before the turn is shared.
//
// A string and a list of text blocks need no treatment here: rendering and
// hashing join the blocks of a message with line feeds.
func Steady(t *turn.Turn) {
	kept := t.Messages[:0]
	for _, m := range t.Messages {
		steadyBlocks(&m)
		if m.Role == turn.System && len(m.Blocks) == 0 {
			continue
		}
		kept = append(kept, m)
	}
	clear(t.Messages[len(kept):])
	t.Messages = kept
}

// steadyBlocks drops what Steady drops from one message.
func steadyBlocks(m *turn.Message) {
	kept := m.Blocks[:0]
	var lost time.Duration
	for _, b := range m.Blocks {
		if m.Role == turn.System && b.Kind == turn.Text {
			b.Text = unattributed(b.Text)
		}
		if b.Kind == turn.Text && blank(b.Text) {
			lost = max(lost, b.Lease)
			continue
		}
		kept = append(kept, b)
	}
	if n := len(kept); n > 0 {
		kept[n-1].Lease = max(kept[n-1].Lease, lost)
	}
	clear(m.Blocks[len(kept):])
	m.Blocks = kept
}

// unattributed returns s without a leading attribution line.
func unattributed(s string) string {
	if !strings.HasPrefix(s, attribution) {
		return s
	}
	_, rest, _ := strings.Cut(s, "\n")
	return strings.TrimLeft(rest, "\n")
}

// blank reports whether s holds nothing but white space.
func blank(s string) bool { return strings.TrimSpace(s) == "" }
