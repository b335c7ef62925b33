package template

import (
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// calls finds the calls of a turn's messages by their ids. It is good for one
// Render.
type calls struct {
	ms []turn.Message
	at map[int]map[string]int // blocks by id, of long answers
}

// longAnswer is of how many blocks an answer is that is indexed: otherwise each
// of as many results would look through all of it.
const longAnswer = 32

// index is the block of message i that makes the call with this id, −1 for none.
func (c *calls) index(i int, id string) int {
	blocks := c.ms[i].Blocks
	if len(blocks) < longAnswer {
		return slices.IndexFunc(blocks, func(b turn.Block) bool { return b.Kind == turn.ToolUse && b.ID == id })
	}
	ids := c.at[i]
	if ids == nil {
		ids = make(map[string]int, len(blocks))
		for k := range blocks {
			b := &blocks[k]
			if _, ok := ids[b.ID]; b.Kind == turn.ToolUse && !ok {
				ids[b.ID] = k
			}
		}
		if c.at == nil {
			c.at = map[int]map[string]int{}
		}
		c.at[i] = ids
	}
	if k, ok := ids[id]; ok {
		return k
	}
	return -1
}

// near is how many messages back the call of a result is looked for.
const near = 32

// name is the name of the tool whose call a result in message i answers, ""
// when it is not among the messages before.
func (c *calls) name(i int, id string) string {
	for j := i - 1; j >= 0 && j >= i-near; j-- {
		if c.ms[j].Role != turn.Assistant {
			continue
		}
		if k := c.index(j, id); k >= 0 {
			return c.ms[j].Blocks[k].Name
		}
	}
	return ""
}
