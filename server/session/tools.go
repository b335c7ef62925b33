package session

import (
	"slices"
	"time"
	"unsafe"

	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// toolBytes is what a tool takes besides its texts.
const toolBytes = 160

// shelfTime is after how long tools in use are put on the shelf again: what lies
// there expires.
const shelfTime = time.Hour

// remember keeps a turn's tools, for a turn that comes without; turn must be
// held. Agents of a harness have the same list, where the decoder knew it
// again: each is counted as if it had its own. Those that come again are put on
// the shelf too, as conversations of one turn are not compacted.
func (a *Agent) remember(tools []turn.Tool, raw *prompt.Raw) {
	if len(tools) == 0 {
		return
	}
	if sameTools(a.tools, tools) {
		if now := time.Now(); !a.forked && now.Sub(a.shelved) > shelfTime {
			a.shelved = now
			raw.KeepTools(a.Who, tools)
		}
		return
	}
	a.tools, a.shelved, a.toolBytes = slices.Clip(tools), time.Time{}, 0
	for i := range tools {
		t := &tools[i]
		a.toolBytes += toolBytes + len(t.Name) + len(t.Namespace) + len(t.Bare) + len(t.Description) + len(t.Schema)
	}
}

// sameTools reports whether two lists are printed alike.
func sameTools(a, b []turn.Tool) bool {
	return len(a) == len(b) && (unsafe.SliceData(a) == unsafe.SliceData(b) || slices.EqualFunc(a, b, func(a, b turn.Tool) bool {
		return a.Name == b.Name && a.Description == b.Description && string(a.Schema) == string(b.Schema) &&
			a.Namespace == b.Namespace && a.Bare == b.Bare && a.Custom == b.Custom && a.Deferred == b.Deferred
	}))
}

// recall takes the tools of an agent that knows none from the shelf; turn must
// be held.
func (a *Agent) recall(raw *prompt.Raw) {
	if a.tools == nil {
		a.remember(raw.Tools(a.Who), raw)
	}
}

// former returns the tools that the agent's turns had last, or nil, without
// their asks for leases; turn must be held.
func (a *Agent) former() []turn.Tool {
	tools := slices.Clone(a.tools)
	for i := range tools {
		tools[i].Lease = 0
	}
	return tools
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
