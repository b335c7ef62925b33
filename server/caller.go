package server

import (
	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// caller is whose turn it is, as the router tells turns apart.
type caller struct {
	session string // of the router: each agent has one; "" is nobody's
	parent  string
	kind    string // of turn and agent, and
	tool    string // whose result came last: by them answers are long or short
	prefix  uint64 // hash of what sessions share: system messages and tools; 0 is nothing
}

// calls makes the caller of a flight whose prompt is known.
func (f *flight) calls() caller {
	t := f.t
	c := caller{kind: t.Who.Kind, tool: lastTool(t), prefix: f.shared()}
	if !t.Who.Lead() && c.kind == "turn" {
		c.kind = "agent"
	}
	if len(t.Messages) == 0 && len(t.Prompts) > 0 && f.unnamed {
		return c // all of a key's completions without names pass for one session
	}
	c.session = agentSession(t.Who.Session, t.Who.Agent)
	if t.Who.Parent != "" {
		c.parent = agentSession(t.Who.Session, t.Who.Parent)
	}
	return c
}

// agentSession is what the router calls an agent: the session for its lead,
// and with a name behind a slash for others.
func agentSession(session, agent string) string {
	if agent == "" || agent == "main" || session == "" {
		return session
	}
	return session + "/" + agent
}

// lastTool is the tool whose result a turn ends with; "" is none.
func lastTool(t *turn.Turn) string {
	n := len(t.Messages)
	if n < 2 || t.Messages[n-1].Role != turn.ToolRole || len(t.Messages[n-1].Blocks) == 0 {
		return ""
	}
	blocks := t.Messages[n-1].Blocks
	id := blocks[len(blocks)-1].ID
	for i := n - 2; i >= 0 && i >= n-4; i-- {
		for _, b := range t.Messages[i].Blocks {
			if b.Kind == turn.ToolUse && b.ID == id {
				return b.Name
			}
		}
	}
	return ""
}

// shared hashes what a turn's prompt begins with in all sessions of its kind:
// the system messages, and the tools by their names.
func (f *flight) shared() uint64 {
	n := 0
	for n < len(f.t.Messages) && f.t.Messages[n].Role == turn.System {
		n++
	}
	if n == 0 && len(f.t.Tools) == 0 {
		return 0
	}
	sum := prompt.Root(f.t)
	if n > 0 && n <= len(f.rolling) {
		sum = f.rolling[n-1]
	}
	for i := range f.t.Tools {
		sum = xxh3.HashStringSeed(f.t.Tools[i].Name, sum)
	}
	return sum
}
