package prompt

import (
	"encoding/json"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// Bare reports whether t is a request for compaction that came without the
// tools of the conversation; Former gives it them.
func Bare(t *turn.Turn) bool { return t.Who.Kind == "compaction" && len(t.Tools) == 0 }

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

// keptTool is a turn.Tool on a Shelf. Its schema is text, so that it stays as
// the client wrote it.
type keptTool struct {
	Name, Namespace, Bare, Description, Schema string
	Custom, Deferred                           bool
}

// KeepTools puts the tools of an agent's turns on the Shelf, where raw turns
// lie, so that a request for compaction without tools finds them after a
// restart too.
func (r *Raw) KeepTools(who turn.Who, tools []turn.Tool) {
	if r == nil || r.behind == nil {
		return
	}
	kept := make([]keptTool, len(tools))
	for i, t := range tools {
		kept[i] = keptTool{t.Name, t.Namespace, t.Bare, t.Description, string(t.Schema), t.Custom, t.Deferred}
	}
	text, err := json.Marshal(kept)
	if err != nil || len(text) > mostTools {
		return
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
	var kept []keptTool
	if json.Unmarshal([]byte(found.Thinking), &kept) != nil {
		return nil
	}
	tools := make([]turn.Tool, len(kept))
	for i, t := range kept {
		tools[i] = turn.Tool{Name: t.Name, Namespace: t.Namespace, Bare: t.Bare, Description: t.Description, Custom: t.Custom, Deferred: t.Deferred}
		if t.Schema != "" {
			tools[i].Schema = json.RawMessage(t.Schema)
		}
	}
	return tools
}

// toolsKey names an agent's tools.
func toolsKey(who turn.Who) uint64 {
	return mix(xxh3.HashString(who.Session), xxh3.HashString(who.Agent), tagTools)
}
