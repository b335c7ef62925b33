package prompt

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agentinfer/dyn/turn"
)

// Steady brings a turn into the form that stays the same from request to
// request, so that the same conversation is the same prompt:
//
//   - the attribution line goes (withoutAttribution);
//   - text that holds nothing goes (withoutBlanks), and so does a system
//     message that held nothing else;
//   - unknown content becomes text (knownBlocks);
//   - results that make deferred tools known tell them (expandRefs);
//   - system messages at the start become one (mergeLeading), later ones a
//     marked part of what comes before them (foldReminders).
//
// The order of what stays is kept, and so is every ask for a lease: that of a
// dropped block moves to its neighbour. Blocks are copied where they change:
// those of the client's messages may be shared between turns. Call it once,
// right after decoding; a second call changes nothing.
//
// A string and a list of text blocks need no treatment here: rendering and
// hashing join the blocks of a message with line feeds.
func Steady(t *turn.Turn) { SteadyWith(t, t.Tools) }

// SteadyWith is Steady of a turn that is Bare: tools are those that the agent's
// turns had, by which results tell what they make known.
func SteadyWith(t *turn.Turn, tools []turn.Tool) {
	kept, left := 0, mostTold
	for i := range t.Messages {
		m := &t.Messages[i]
		if m.Role == turn.System || !asIs(m.Blocks) {
			m.Blocks = withoutAttribution(m)
			m.Blocks = expandRefs(m.Blocks, tools, &left)
			m.Blocks = knownBlocks(m.Blocks)
			m.Blocks = withoutBlanks(m.Blocks)
		}
		if m.Role == turn.System && len(m.Blocks) == 0 {
			continue
		}
		if kept < i {
			t.Messages[kept] = *m
		}
		kept++
	}
	clear(t.Messages[kept:])
	t.Messages = foldReminders(mergeLeading(t.Messages[:kept]))
}

// asIs reports whether blocks of anybody but the system stay as they are, as
// nearly all do.
func asIs(blocks []turn.Block) bool {
	for i := range blocks {
		if b := &blocks[i]; b.Kind == turn.Other || len(b.Refs) > 0 || isBlank(b) {
			return false
		}
	}
	return true
}

// attribution begins the line that Claude Code puts before the system text.
// It changes from session to session and, in old clients, with every request.
const attribution = "x-anthropic-billing-header:"

// withoutAttribution takes the attribution line off the blocks of a system
// message; one that is in a block with other text takes only itself along.
func withoutAttribution(m *turn.Message) []turn.Block {
	if m.Role != turn.System {
		return m.Blocks
	}
	blocks, own := m.Blocks, false
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == turn.Text && strings.HasPrefix(b.Text, attribution) {
			if !own {
				blocks, own = slices.Clone(m.Blocks), true
			}
			blocks[i].Text = unattributed(b.Text)
		}
	}
	return blocks
}

// unattributed returns s without a leading attribution line.
func unattributed(s string) string {
	if !strings.HasPrefix(s, attribution) {
		return s
	}
	_, rest, _ := strings.Cut(s, "\n")
	return strings.TrimLeft(rest, "\n")
}

// withoutBlanks drops text that holds nothing.
func withoutBlanks(blocks []turn.Block) []turn.Block {
	if !slices.ContainsFunc(blocks, func(b turn.Block) bool { return isBlank(&b) }) {
		return blocks
	}
	kept := make([]turn.Block, 0, len(blocks))
	var lost time.Duration
	for i := range blocks {
		if b := &blocks[i]; isBlank(b) {
			lost = max(lost, b.Lease)
			continue
		}
		kept = append(kept, blocks[i])
	}
	if n := len(kept); n > 0 {
		kept[n-1].Lease = max(kept[n-1].Lease, lost)
	}
	return kept
}

func isBlank(b *turn.Block) bool { return b.Kind == turn.Text && blank(b.Text) }

// blank reports whether s holds nothing but white space. Of most texts it looks
// at the first byte only.
func blank(s string) bool {
	if s != "" && s[0] > ' ' && s[0] < utf8.RuneSelf {
		return false
	}
	return strings.TrimLeftFunc(s, unicode.IsSpace) == ""
}
