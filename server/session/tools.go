package session

import (
	"encoding/json"
	"slices"
	"unique"

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
// held. They are counted with every agent that has them.
func (a *Agent) remember(tools []turn.Tool) {
	if len(tools) == 0 || slices.EqualFunc(a.tools, tools, is) {
		return
	}
	a.tools, a.toolBytes = make([]tool, len(tools)), 0
	for i := range tools {
		text := textOf(tools[i])
		a.tools[i] = unique.Make(text)
		a.toolBytes += handleBytes + len(text.name) + len(text.namespace) + len(text.bare) + len(text.description) + len(text.schema)
	}
}

// former returns the tools that the agent's turns had last; turn must be held.
func (a *Agent) former() []turn.Tool {
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
