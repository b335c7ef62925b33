package life

import (
	"slices"
	"time"
)

// Doing is what an agent does while it has no turn.
type Doing string

// What agents do. The zero value is not known: it has had no turn yet, or its
// next one is due.
const (
	Due        Doing = ""
	Idle       Doing = "idle"       // waits for a person
	Tool       Doing = "tool"       // waits for tools, of which State.Tool is one
	Agents     Doing = "agents"     // waits for what runs beside it, subagents mostly
	Compacting Doing = "compacting" // its conversation is being summed up, or was and has not gone on yet
	Done       Doing = "done"       // is over: what it has in caches nobody will ask for
)

// State is what one agent is taken to do. The zero value knows nothing.
type State struct {
	Doing Doing
	Tool  string    // Doing Tool: the one that began last
	Since time.Time // of Doing
	Told  time.Time // when the harness last said something of it; zero where it never did
	Why   string    // Doing Done: how that is known

	calls []call // that run, as told
}

// call is a tool that runs.
type call struct {
	id, tool string
	began    time.Time
}

// mostCalls is how many calls of one agent are told apart.
const mostCalls = 64

// by reports whether the harness said something of the agent since.
func (s *State) by(since time.Time) bool { return !s.Told.IsZero() && !s.Told.Before(since) }

// is changes what the agent does.
func (s *State) is(now time.Time, d Doing, tool, why string) {
	if s.Doing != d || s.Tool != tool {
		s.Since = now
	}
	s.Doing, s.Tool, s.Why = d, tool, why
}

// Hear takes a note about the agent, and returns how long the tool took whose
// end it tells; 0 is unknown. Of the notes about others that name it,
// AgentBegan and AgentEnded are the subagent's.
func (s *State) Hear(now time.Time, n Note) (took time.Duration) {
	s.Told = now
	switch n.Event {
	case Started, Prompted, AgentBegan:
		s.calls = nil
		s.is(now, Due, "", "")
	case ToolBegan:
		if len(s.calls) < mostCalls {
			s.calls = append(s.calls, call{n.Call, n.Tool, now})
		}
		s.is(now, Tool, n.Tool, "")
	case ToolEnded:
		return s.ended(now, n)
	case Rested:
		s.calls = nil
		if n.Beside > 0 {
			s.is(now, Agents, "", "")
		} else {
			s.is(now, Idle, "", "")
		}
	case CompactBegan, CompactEnded:
		s.Shrink(now)
	case AgentEnded, SessionEnded:
		s.Over(now, "told")
	}
	return 0
}

// ended takes the end of a tool: others may still run.
func (s *State) ended(now time.Time, n Note) (took time.Duration) {
	took = n.Took
	i := slices.IndexFunc(s.calls, func(c call) bool { return c.id == n.Call && c.tool == n.Tool })
	if i >= 0 {
		if took == 0 {
			took = now.Sub(s.calls[i].began)
		}
		s.calls = slices.Delete(s.calls, i, i+1)
	}
	if len(s.calls) == 0 {
		s.is(now, Due, "", "")
	} else {
		s.is(now, Tool, s.calls[len(s.calls)-1].tool, "")
	}
	return max(took, 0)
}

// Begin notes that a turn of the agent came: whatever it did is over. An agent
// that was done goes on.
func (s *State) Begin(now time.Time) {
	s.calls = nil
	s.is(now, Due, "", "")
}

// Land notes that a turn ended that had begun at some time, and what was called
// in its answer; "" is nothing. What the harness told since then stands.
func (s *State) Land(now, begun time.Time, tool string) {
	switch {
	case s.by(begun):
	case tool != "":
		s.is(now, Tool, tool, "")
	default:
		s.is(now, Idle, "", "")
	}
}

// Shrink notes that the agent's conversation was summed up: what it says next
// begins anew.
func (s *State) Shrink(now time.Time) {
	s.calls = nil
	s.is(now, Compacting, "", "")
}

// Over notes that the agent is over, and how that is known.
func (s *State) Over(now time.Time, why string) {
	s.calls = nil
	s.is(now, Done, "", why)
}
