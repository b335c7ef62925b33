package server

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/life"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/turn"
)

// What is known of an agent's life comes from three sides: its harness tells
// (hooks), its turns show it, or one of them says so (hints).
const (
	byHook = "hook"
	bySeen = "seen"
	byHint = "hint"
)

// lastStates are the agent_state of an agent that says its last word.
var lastStates = []string{"done", "finished", "ended"}

// lead is the name of a session's main line.
const lead = "main"

// hear takes a note of a harness: it changes what the agent is taken to do, and
// stands in the ledger.
func (s *Server) hear(now time.Time, n life.Note) {
	n.Session, n.Agent = dialect.Name(n.Session), cmp.Or(dialect.Name(n.Agent), lead)
	row := ledger.AgentEvent{
		At: now, Session: n.Session, Agent: n.Agent, Event: string(n.Event), Tool: n.Tool, MS: -1, Source: byHook, Detail: n.Why,
	}
	for _, a := range s.relatives(n.Session) {
		row.Session = a.Who.Session
		if n.Event != life.SessionEnded && a.Who.Agent != n.Agent {
			continue
		}
		row.Model = a.Model
		var was life.Doing
		a.Live(func(l *life.State) {
			was = l.Doing
			if took := l.Hear(now, n); took > 0 {
				row.MS = ms(took)
			}
		})
		switch n.Event {
		case life.CompactEnded:
			s.worthless(a, now)
			s.leases.Stale(lineOf(a))
			s.leased(now)
		case life.AgentEnded, life.SessionEnded:
			if was != life.Done {
				s.worthless(a, now)
				s.lineEnded(a.Who.Session, a.Who.Agent, string(n.Event))
			}
		}
	}
	s.ledger.Agent(row)
}

// relatives are the agents of what a harness calls a session: its turns may
// have come with a key, whose name then stands in front.
func (s *Server) relatives(name string) []*session.Agent {
	all := s.sessions.Family(name)
	for _, t := range s.ring.All() {
		all = append(all, s.sessions.Family(t.Key().Name+"/"+name)...)
	}
	return all
}

// comes notes that the flight's agent goes on. Its subagents that have said
// their last word are over then: what they found is in its prompt, or will
// never be.
func (f *flight) comes(now time.Time) {
	f.a.Live(func(l *life.State) { l.Begin(now) })
	if f.choice > 0 {
		return
	}
	f.parts(now)
	for _, a := range f.s.sessions.Family(f.a.Who.Session) {
		if a == f.a || a.Who.Lead() || a.Forked() || a.Who.Parent != f.a.Who.Agent || a.Life().Doing != life.Idle {
			continue
		}
		if g := a.Figures(); g.Waiting+g.Prefill+g.Streaming == 0 {
			f.s.over(a, now, bySeen, "its parent went on")
		}
	}
}

// parts notes that the turn does not go on from all that its agent had: what
// lies behind the place is nobody's. Where much of it is gone for a summary that
// is told.
func (f *flight) parts(now time.Time) {
	b := f.broke
	if b == nil {
		return
	}
	f.shrunk(b.Token, now)
	f.a.Note(func(g *session.Figures) { g.Dead, g.DeadAt = b.Held-b.Token, now })
	if b.Kind == diff.Compaction && f.t.Who.Kind != dialect.KindCompaction && float64(b.Token) < keepsMost*float64(b.Held) {
		f.s.happened(f.a, now, life.CompactEnded, bySeen, fmt.Sprintf("%d of %d tokens stay, the prompt has %d", b.Token, b.Held, f.asked))
	}
}

// keepsMost is the share of its context of which a turn keeps less when the
// conversation was summed up: of 710 recorded sessions 1.9 % of the turns do.
const keepsMost = 0.9

// lasts notes how much of the agent's context its next prompt can begin with:
// reasoning that the template drops, and all behind it, is no cache.
func (f *flight) lasts(an *analysis, called bool, now time.Time) {
	context, kept := f.row.Prompt+f.row.Output, 0
	thought := an != nil && an.usage.Thinking > 0
	switch drops := f.m.Prompt.Drops(); {
	case drops == prompt.DropsNone || f.row.Chat != "" || f.m.Stands != "", drops == prompt.DropsClosed && called, !thought && f.lasting >= f.asked:
		kept = context
	case thought:
		kept = min(f.lasting, f.asked-len(f.lead))
	default:
		kept = f.lasting
	}
	f.a.Note(func(g *session.Figures) { g.Lasting = kept })
	if kept < context {
		f.shrunk(kept, now)
	}
}

// shrunk has the books count what lies behind some tokens as nobody's.
func (f *flight) shrunk(kept int, now time.Time) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.books.Shrunk(now, f.caller.session, kept)
}

// rests notes that the flight has landed, and what that says of its agent: an
// is its answer, nil where there is none.
func (f *flight) rests(an *analysis, now time.Time) {
	whole := an != nil && (an.reason == turn.Ended || an.reason == turn.Stopped || an.reason == turn.Called)
	tool := ""
	if whole && an.reason == turn.Called {
		tool = cmp.Or(an.answer.LastCall(), "?")
	}
	f.a.Live(func(l *life.State) { l.Land(now, f.t.Arrived, tool) })
	f.lasts(an, tool != "", now)
	switch {
	case !whole || f.choice > 0:
	case f.t.Hints.Final:
		f.s.final(f.a, now)
	case tool != "":
	case f.t.Hints.Ephemeral || f.t.Hints.State == "ephemeral":
		f.s.over(f.a, now, byHint, "ephemeral")
	case slices.Contains(lastStates, f.t.Hints.State):
		f.s.over(f.a, now, byHint, "agent_state "+f.t.Hints.State)
	case f.t.Who.Kind == dialect.KindCompaction:
		f.s.summed(f.a, now)
	case dialect.Beside(f.t.Who.Kind):
		f.s.over(f.a, now, bySeen, "no conversation: "+f.t.Who.Kind)
	}
}

// final notes that a turn said that its session's last one it was; a lead's
// takes the subagents along.
func (s *Server) final(a *session.Agent, now time.Time) {
	s.over(a, now, byHint, "session_final")
	if !a.Who.Lead() {
		return
	}
	for _, sub := range s.sessions.Family(a.Who.Session) {
		s.over(sub, now, byHint, "session_final")
	}
}

// summed notes that a conversation was summed up: by its own agent, or by a
// request beside it.
func (s *Server) summed(a *session.Agent, now time.Time) {
	if a.Who.Parent != "" && a.Who.Agent == dialect.KindCompaction {
		s.over(a, now, bySeen, "no conversation: "+dialect.KindCompaction)
		for _, of := range s.sessions.Family(a.Who.Session) {
			if of.Who.Agent == a.Who.Parent {
				s.shrinks(of, now)
			}
		}
		return
	}
	s.shrinks(a, now)
}

// shrinks notes that an agent's next prompt will begin with a summary.
func (s *Server) shrinks(a *session.Agent, now time.Time) {
	a.Live(func(l *life.State) { l.Shrink(now) })
	s.worthless(a, now)
	s.leases.Stale(lineOf(a))
	s.leased(now)
	s.happened(a, now, life.CompactBegan, bySeen, "")
}

// over notes that an agent is done, and with a lead its session.
func (s *Server) over(a *session.Agent, now time.Time, source, why string) {
	event := life.AgentEnded
	if a.Who.Lead() {
		event = life.SessionEnded
	}
	s.ends(a, now, event, source, why)
}

// ends notes that an agent is done, once.
func (s *Server) ends(a *session.Agent, now time.Time, event life.Event, source, why string) {
	done := false
	a.Live(func(l *life.State) {
		if done = l.Doing == life.Done; !done {
			l.Over(now, why)
		}
	})
	if done {
		return
	}
	s.worthless(a, now)
	s.lineEnded(a.Who.Session, a.Who.Agent, why)
	s.happened(a, now, event, source, why)
}

// worthless has what an agent left in caches count as nobody's: it is not in
// use, and its price fades until it goes on all the same.
func (s *Server) worthless(a *session.Agent, now time.Time) {
	m, err := s.known(a.Model)
	if err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.books.Closed(now, agentSession(a.Who.Session, a.Who.Agent))
}

// happened writes a step of an agent's life into the ledger.
func (s *Server) happened(a *session.Agent, now time.Time, event life.Event, source, detail string) {
	s.ledger.Agent(ledger.AgentEvent{
		At: now, Session: a.Who.Session, Agent: a.Who.Agent, Model: a.Model, Event: string(event), MS: -1, Source: source, Detail: detail,
	})
}

// quietFor is after which time without a turn or a word a session counts as
// over: of pauses that long nearly none end (docs/routing.md plays 30 min as
// the longest).
const quietFor = 30 * time.Minute

// hush ends the agents that nothing was heard of for long.
func (s *Server) hush(now time.Time) {
	for _, a := range s.sessions.Quiet(now.Add(-quietFor)) {
		if s.leases.Holds(now, lineOf(a)) {
			continue // somebody says that it goes on
		}
		if a.Life().Doing != life.Done {
			s.stayed(a)
		}
		s.over(a, now, bySeen, "quiet for "+quietFor.String())
	}
}
