package server

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentinfer/dyn/cache/lease"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/turn"
)

// leased is what a flight has to do with leases at its seat.
type leased struct {
	lease.Used
	worker string
	line   lease.Line
}

// line is the flight's agent as leases are held by it.
func (f *flight) line() lease.Line {
	return lineOf(f.a)
}

// lineOf is an agent as leases are held by it.
func lineOf(a *session.Agent) lease.Line { return lease.Of(a.Model, a.Who.Session, a.Who.Agent) }

// leases tells the book of a flight that has a seat: what it asks to be kept,
// and that its agent uses what it had. Where the engine will not tell what it
// found, its KV events do so now.
func (f *flight) leases(st *seat, now time.Time) {
	book := f.s.leases
	if len(f.marks)+len(f.t.Hints.Retain) == 0 && book.Empty() {
		return
	}
	chain, block := f.chained(st)
	t := lease.Turn{
		ID: f.t.ID, Tenant: f.t.Tenant, Line: f.line(), Worker: st.name, Chain: chain, Block: block,
		Prompt: f.asked, Marks: marksOf(f.marks), Rewrites: f.choice == 0 && f.t.Who.Kind == "turn",
	}
	ranges, _ := f.retainMarks()
	t.Marks = append(t.Marks, ranges...)
	l := &leased{Used: book.Use(now, t), worker: st.name, line: t.Line}
	if len(l.Leases)+len(l.Due) == 0 {
		f.leased.Store(nil)
		return
	}
	f.leased.Store(l)
	for _, one := range l.Leases {
		f.a.Note(func(g *session.Figures) { g.LeaseEnds = later(g.LeaseEnds, one.Ends) })
	}
	switch {
	case st.tells && st.chat == "": // found says
	case st.events && st.chat == "":
		book.Found(now, l.line, st.name, l.Due, st.held, "its KV events")
	default:
		book.Found(now, l.line, st.name, l.Due, -1, "")
	}
	f.s.leased(now)
}

// chained is the flight's chain in the blocks of its seat's worker, or in the
// smallest there are.
func (f *flight) chained(st *seat) (chain []uint64, block int) {
	if chain = f.chains[st.block]; st.block > 0 && chain != nil {
		return chain, st.block
	}
	for size := range f.chains {
		if block == 0 || size < block {
			block = size
		}
	}
	return f.chains[block], block
}

// marksOf are a prompt's marks as leases take them.
func marksOf(marks []prompt.Mark) []lease.Mark {
	out := make([]lease.Mark, len(marks))
	for i, m := range marks {
		out[i] = lease.Mark{Tokens: m.Tokens, TTL: m.TTL}
	}
	return out
}

// found says what the engine reported to have of what was leased; it comes
// before the answer's end is written, so that this can tell.
func (f *flight) found(u turn.Usage) {
	l := f.leased.Load()
	if l == nil || len(l.Due) == 0 || !f.tells.Load() || f.row.Chat != "" {
		return
	}
	now := time.Now()
	f.s.leases.Found(now, l.line, l.worker, l.Due, u.Cached, "its engine")
	f.s.leased(now)
}

// leased hands on what changed in the book: to the models' routers what they
// have to price, to the ledger the rest.
func (s *Server) leased(now time.Time) {
	effects, news := s.leases.Drain()
	for _, e := range effects {
		if m, err := s.known(e.Line.Model); err == nil {
			m.mu.Lock()
			m.books.Lease(now, agentSession(e.Line.Session, e.Line.Agent), e.Worker, e.Tokens, e.Until)
			m.mu.Unlock()
		}
	}
	for i := range news {
		s.ledger.Lease(leaseRow(now, &news[i]))
	}
}

// leaseRow is a lease as the ledger keeps it.
func leaseRow(now time.Time, l *lease.Lease) ledger.Lease {
	row := ledger.Lease{
		ID: l.ID, At: now, Turn: l.Turn, Session: l.Session, Agent: l.Agent, Model: l.Model, Tokens: l.Tokens,
		TTLS: l.TTL.Seconds(), Ends: l.Ends, State: string(l.State), Tenant: l.Tenant, Worker: l.Worker, Hash: l.Hash, Block: l.Block,
		Held: l.Held, Found: l.Found, Source: l.By, Why: l.Why,
	}
	if l.Block > 0 {
		row.Blocks = l.Tokens / l.Block
	}
	return row
}

// Recollect takes the leases of an earlier daemon, the oldest first: what is
// left of their time goes on.
func (s *Server) Recollect(rows []ledger.Lease) int {
	now := time.Now()
	all := make([]lease.Lease, 0, len(rows))
	for _, r := range rows {
		all = append(all, lease.Lease{
			ID: r.ID, Tenant: r.Tenant, Line: lease.Of(r.Model, r.Session, r.Agent), Worker: r.Worker, Hash: r.Hash, Block: r.Block,
			Tokens: r.Tokens, TTL: time.Duration(r.TTLS * float64(time.Second)), Asked: r.At, Ends: r.Ends, By: r.Source, State: lease.State(r.State), Turn: r.Turn,
		})
	}
	return s.leases.Restore(now, all)
}

// lineEnded lets go of what an agent holds, or a whole session where agent is "".
func (s *Server) lineEnded(session, agent, why string) {
	if s.leases.End(session, agent, why) > 0 {
		s.leased(time.Now())
	}
}

// leaseHeader tells a turn that has leases what became of them.
const leaseHeader = "x-dyn-lease"

// tellLeases sets the header, once it is known where the turn goes.
func (f *flight) tellLeases(c *call) {
	l := f.leased.Load()
	if l == nil {
		return
	}
	var parts []string
	for _, one := range f.s.leases.Look(l.worker, l.Leases) {
		parts = append(parts, fmt.Sprintf("%s %d/%d", one.State, one.Held, one.Tokens))
	}
	if len(parts) > 0 {
		c.Response.Header.Set(leaseHeader, strings.Join(parts, ", "))
	}
}

// leaseExtra is one lease of a turn, in its answer.
type leaseExtra struct {
	ID     string  `json:"id"`
	Worker string  `json:"worker_id"`
	Tokens int     `json:"tokens"`
	Held   int     `json:"held_tokens"`
	Found  int     `json:"found_tokens"` // -1 nobody has seen
	TTLS   float64 `json:"ttl_s"`
	State  string  `json:"state"`
	Why    string  `json:"why,omitempty"`
}

// leaseExtras are the flight's leases as they are now.
func (f *flight) leaseExtras() []leaseExtra {
	list := []leaseExtra{}
	if l := f.leased.Load(); l != nil {
		for _, x := range f.s.leases.Look(l.worker, l.Leases) {
			list = append(list, leaseExtra{x.ID, x.Worker, x.Tokens, x.Held, x.Found, x.TTL.Seconds(), string(x.State), x.Why})
		}
	}
	return list
}
