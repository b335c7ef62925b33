package diff

import (
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// Change is a part of a turn that is not as it was.
type Change struct {
	Message, Block, Tool int // -1 is none
	Field                string
	Was, Now             uint64 // hashes of the field; 0 unknown
}

// Message returns what changed in message i, which was in the turn of the
// sketch too: fields that templates print before those that they may not.
func (s *Sketch) Message(i int, m *turn.Message) (changes []Change) {
	was := s.message(i)
	if s.roles[i] != letter(m.Role) {
		changes = append(changes, Change{i, -1, -1, FieldRole, 0, 0})
	}
	for j := range max(len(was), len(m.Blocks)) {
		if j >= len(was) || j >= len(m.Blocks) || was[j].Kind != m.Blocks[j].Kind {
			return append(changes, blocks(i, j, was, m))
		}
		changes = append(changes, fields(i, j, was[j], &m.Blocks[j])...)
	}
	return changes
}

// blocks is the change of a message whose blocks are others from j on.
func blocks(i, j int, was []Sum, m *turn.Message) Change {
	field := FieldBlocks
	gone := j < len(was) && was[j].Kind == turn.ThinkingBlock && (j >= len(m.Blocks) || m.Blocks[j].Kind != turn.ThinkingBlock)
	if gone {
		field = FieldThinking
	}
	return Change{i, j, -1, field, 0, 0}
}

// fields are the changes of a block that is of the kind that it was.
func fields(i, j int, was Sum, b *turn.Block) (changes []Change) {
	now := sumOf(b)
	add := func(field string, old, new uint64) {
		if old != new {
			changes = append(changes, Change{i, j, -1, field, old, new})
		}
	}
	flag := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	add(FieldName, uint64(was.Name), uint64(now.Name))
	if b.Kind == turn.ThinkingBlock {
		add(FieldThinking, was.Text, now.Text)
	} else {
		add(FieldText, was.Text, now.Text)
	}
	if b.Kind == turn.ToolUse {
		add(FieldArgs, was.Data, now.Data)
	} else {
		add(FieldRaw, was.Data, now.Data)
	}
	add(FieldError, flag(was.Error), flag(now.Error))
	add(FieldID, uint64(was.ID), uint64(now.ID))
	return changes
}

// Tools returns how the tools changed that a template is shown, and what kind
// that is; ok is false where they are as they were.
func Tools(before, after []turn.Tool) (c Change, k Kind, ok bool) {
	was, now := shown(before), shown(after)
	i := 0
	for i < min(len(was), len(now)) && sameTool(was[i], now[i]) {
		i++
	}
	c = Change{-1, -1, place(after, i), FieldOrder, 0, 0}
	if i == len(was) && i == len(now) {
		return c, "", false
	}
	added, removed := lacks(was, now), lacks(now, was)
	switch {
	case len(added) == 0 && len(removed) == 0 && len(was) == len(now) && sameNames(was, now):
		c.toolField(was[i], now[i])
		return c, ToolChanged, true
	case len(added) == 0 && len(removed) == 0:
		return c, ToolOrder, true
	case len(removed) == 0:
		c.Field = FieldAdded
		return c, ToolAdded, true
	case len(added) == 0:
		c.Field = FieldRemoved
		return c, ToolRemoved, true
	}
	if i < min(len(was), len(now)) {
		c.toolField(was[i], now[i])
	}
	return c, ToolChanged, true
}

// shown are the tools that stand in the prompt from its start.
func shown(tools []turn.Tool) []*turn.Tool {
	kept := make([]*turn.Tool, 0, len(tools))
	for i := range tools {
		if !tools[i].Deferred {
			kept = append(kept, &tools[i])
		}
	}
	return kept
}

// place is where the i-th tool that is shown stands among all.
func place(tools []turn.Tool, i int) int {
	for at := range tools {
		if tools[at].Deferred {
			continue
		}
		if i == 0 {
			return at
		}
		i--
	}
	return len(tools)
}

func sameTool(a, b *turn.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && string(a.Schema) == string(b.Schema) && a.Custom == b.Custom
}

// sameNames reports whether two lists have the same names in the same order.
func sameNames(a, b []*turn.Tool) bool {
	for i := range a {
		if a[i].Name != b[i].Name {
			return false
		}
	}
	return true
}

// lacks are the names that b has and a has not.
func lacks(a, b []*turn.Tool) (names []string) {
	has := map[string]bool{}
	for _, t := range a {
		has[t.Name] = true
	}
	for _, t := range b {
		if !has[t.Name] {
			names = append(names, t.Name)
		}
	}
	return names
}

// toolField says in which field two tools at the same place differ.
func (c *Change) toolField(was, now *turn.Tool) {
	switch {
	case was.Name != now.Name:
		c.Field, c.Was, c.Now = FieldName, xxh3.HashString(was.Name), xxh3.HashString(now.Name)
	case was.Description != now.Description:
		c.Field, c.Was, c.Now = FieldDescription, xxh3.HashString(was.Description), xxh3.HashString(now.Description)
	default:
		c.Field, c.Was, c.Now = FieldSchema, xxh3.Hash(was.Schema), xxh3.Hash(now.Schema)
	}
}

// hash writes a hash; 0 is unknown.
func hash(h uint64) string {
	if h == 0 {
		return ""
	}
	return strconv.FormatUint(h, 16)
}

// Into puts the place of a change into a break.
func (c Change) Into(b *Break) {
	b.Message, b.Block, b.Tool, b.Field, b.Was, b.Now = c.Message, c.Block, c.Tool, c.Field, hash(c.Was), hash(c.Now)
}
