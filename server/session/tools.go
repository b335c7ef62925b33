package session

import (
	"encoding/json"
	"slices"
	"time"
	"unique"

	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// tool is a turn.Tool as it is remembered. The agents of a harness have the
// same ones, so each is in memory once.
type tool = unique.Handle[toolText]

// toolText is all of a tool that is printed, or needed to read a call.
type toolText struct {
	name, namespace, bare, description, schema string
	custom, deferred                           bool
}

func textOf(t turn.Tool) toolText {
	return toolText{t.Name, t.Namespace, t.Bare, t.Description, string(t.Schema), t.Custom, t.Deferred}
}

// is reports whether a remembered tool is t.
func is(h tool, t turn.Tool) bool {
	v := h.Value()
	return v.name == t.Name && v.description == t.Description && v.schema == string(t.Schema) &&
		v.namespace == t.Namespace && v.bare == t.Bare && v.custom == t.Custom && v.deferred == t.Deferred
}

// handleBytes is what a remembered tool takes besides its texts.
const handleBytes = 160

// remember keeps a turn's tools, for a turn that comes without; turn must be
// held. They are counted with every agent that has them. Those that come again
// are put on the shelf too, as conversations of one turn are not compacted.
func (a *Agent) remember(tools []turn.Tool, raw *prompt.Raw) {
	if len(tools) == 0 {
		return
	}
	if slices.EqualFunc(a.tools, tools, is) {
		if now := time.Now(); now.Sub(a.shelved) > shelfTime {
			a.shelved = now
			raw.KeepTools(a.Who, tools)
		}
		return
	}
	a.tools, a.toolBytes, a.shelved = make([]tool, len(tools)), 0, time.Time{}
	for i := range tools {
		text := textOf(tools[i])
		a.tools[i] = unique.Make(text)
		a.toolBytes += handleBytes + len(text.name) + len(text.namespace) + len(text.bare) + len(text.description) + len(text.schema)
	}
}

// shelfTime is after how long tools in use are put on the shelf again: what lies
// there expires.
const shelfTime = time.Hour

// recall takes the tools of an agent that knows none from the shelf; turn must
// be held.
func (a *Agent) recall(raw *prompt.Raw) {
	if a.tools == nil {
		a.remember(raw.Tools(a.Who), raw)
	}
}

// Tools returns the tools that the turns of the agent that t names had, for one
// that comes without; nil when they are not known.
func (s *Store) Tools(t *turn.Turn, raw *prompt.Raw) []turn.Tool {
	if t.Who.Session == "" {
		return nil
	}
	named := nameOf(t)
	s.mu.Lock()
	a := s.byName[named]
	s.mu.Unlock()
	if a != nil {
		a.turn.Lock()
		defer a.turn.Unlock()
		if tools := a.former(); tools != nil {
			return tools
		}
	}
	return raw.Tools(turn.Who{Session: named.session, Agent: named.agent})
}

// former returns the tools that the agent's turns had last, or nil; turn must
// be held.
func (a *Agent) former() []turn.Tool {
	if a.tools == nil {
		return nil
	}
	tools := make([]turn.Tool, len(a.tools))
	for i, h := range a.tools {
		v := h.Value()
		tools[i] = turn.Tool{
			Name: v.name, Namespace: v.namespace, Bare: v.bare, Description: v.description,
			Custom: v.custom, Deferred: v.deferred,
		}
		if v.schema != "" {
			tools[i].Schema = json.RawMessage(v.schema)
		}
	}
	return tools
}
