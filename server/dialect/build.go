package dialect

import (
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// appendMessage appends blocks as a message, to the last message where that
// is of the same role and one of those that are joined: what an assistant
// says in one go, and the results of its calls.
func appendMessage(ms []turn.Message, role turn.Role, blocks []turn.Block) []turn.Message {
	if n := len(ms); n > 0 && ms[n-1].Role == role && (role == turn.Assistant || role == turn.ToolRole) {
		ms[n-1].Blocks = append(ms[n-1].Blocks, blocks...)
		return ms
	}
	return append(ms, turn.Message{Role: role, Blocks: blocks})
}

// appendResults appends a user's blocks as messages: runs that begin with a
// result are messages of turn.ToolRole, the rest are the user's, in order.
// Images right after a result belong to it.
func appendResults(ms []turn.Message, blocks []turn.Block) []turn.Message {
	if len(blocks) == 0 {
		return append(ms, turn.Message{Role: turn.User})
	}
	role := turn.User
	from := 0
	for i, b := range blocks {
		next := role
		switch {
		case b.Kind == turn.ToolResult:
			next = turn.ToolRole
		case b.Kind == turn.Text, role == turn.User:
			next = turn.User
		}
		if next != role && i > from {
			ms = appendMessage(ms, role, blocks[from:i:i])
			from = i
		}
		role = next
	}
	return appendMessage(ms, role, blocks[from:])
}

// appendResult appends the result of a call with the texts of its content, a
// line each, and the names of the tools that it refers to, and after it
// everything else. Leases inside count for the result.
func appendResult(blocks []turn.Block, res turn.Block, content []turn.Block) []turn.Block {
	at := len(blocks)
	blocks = append(blocks, res)
	var texts []string
	for i := range content {
		b := &content[i]
		res.Lease = max(res.Lease, b.Lease)
		switch {
		case b.Kind == turn.Text && b.Refs != nil:
			res.Refs = append(res.Refs, b.Refs...)
		case b.Kind == turn.Text && len(content) == 1:
			res.Text = b.Text
		case b.Kind == turn.Text:
			texts = append(texts, b.Text)
		default:
			blocks = append(blocks, *b)
			blocks[len(blocks)-1].Lease = 0
		}
	}
	if texts != nil {
		res.Text = strings.Join(texts, "\n")
	}
	blocks[at] = res
	return blocks
}
