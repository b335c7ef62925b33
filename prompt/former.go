package prompt

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// Bare reports whether t is a request for compaction that came without the
// tools of the conversation; Former gives it them.
func Bare(t *turn.Turn) bool { return t.Who.Kind == kindCompaction && len(t.Tools) == 0 }

// Former returns the turn to be rendered when t is Bare: with the agent's
// former tools. Its prompt then goes on from the one before, where it would
// otherwise share nothing with it in templates that print the tools first. ok
// is false, and t itself is returned, for every other turn, and where there
// are no tools. The answer of such a turn is text: what looks like a call is
// not to be taken for one.
func Former(t *turn.Turn, tools []turn.Tool) (_ *turn.Turn, ok bool) {
	if !Bare(t) || len(tools) == 0 {
		return t, false
	}
	with := *t
	with.Tools = tools
	return &with, true
}

// ofTools is put before a model's name where its agents' tools lie on a Shelf.
const ofTools = "\x00tools of "

// mostTools is how long the tools of an agent may be, in bytes, to be kept.
const mostTools = 1 << 20

// KeepTools puts the tools of an agent's turns on the Shelf, where raw turns
// lie, so that a request for compaction without tools finds them after a
// restart too. Names, texts and flags are kept as they are.
func (r *Raw) KeepTools(who turn.Who, tools []turn.Tool) {
	if r == nil || r.behind == nil {
		return
	}
	size := 0
	for i := range tools {
		t := &tools[i]
		size += len(t.Name) + len(t.Namespace) + len(t.Bare) + len(t.Description) + len(t.Schema) + 16
	}
	if size > mostTools {
		return
	}
	text := make([]byte, 0, size)
	for i := range tools {
		t := &tools[i]
		flags := byte(0)
		if t.Custom {
			flags |= 1
		}
		if t.Deferred {
			flags |= 2
		}
		text = append(text, flags)
		for _, s := range [...]string{t.Name, t.Namespace, t.Bare, t.Description} {
			text = append(binary.AppendUvarint(text, uint64(len(s))), s...)
		}
		text = append(binary.AppendUvarint(text, uint64(len(t.Schema))), t.Schema...)
	}
	r.behind.Keep(turn.RawTurn{Model: ofTools + r.model, Key: toolsKey(who), Session: who.Session, Thinking: string(text), At: time.Now()})
}

// Tools returns what KeepTools put on the Shelf, nil when it is not there.
func (r *Raw) Tools(who turn.Who) []turn.Tool {
	if r == nil || r.behind == nil {
		return nil
	}
	found, ok := r.behind.Find(ofTools+r.model, toolsKey(who))
	if !ok {
		return nil
	}
	var tools []turn.Tool
	for text := found.Thinking; text != ""; {
		flags := text[0]
		var parts [5]string
		text = text[1:]
		for i := range parts {
			n, used := binary.Uvarint([]byte(text[:min(len(text), binary.MaxVarintLen64)]))
			if used <= 0 || n > uint64(len(text)-used) {
				return nil
			}
			parts[i], text = text[used:used+int(n)], text[used+int(n):]
		}
		t := turn.Tool{
			Name: parts[0], Namespace: parts[1], Bare: parts[2], Description: parts[3],
			Custom: flags&1 != 0, Deferred: flags&2 != 0,
		}
		if parts[4] != "" {
			t.Schema = json.RawMessage(parts[4])
		}
		tools = append(tools, t)
	}
	return tools
}

// toolsKey names an agent's tools.
func toolsKey(who turn.Who) uint64 {
	return mix(xxh3.HashString(who.Session), xxh3.HashString(who.Agent), tagTools)
}
