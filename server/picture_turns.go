package server

import (
	"sort"
	"time"

	"github.com/agentinfer/dyn/cache/lease"
	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/server/life"
	"github.com/agentinfer/dyn/server/session"
)

// leasesShown bounds the leases in a picture.
const leasesShown = 200

// sessionsShown bounds the agents in a picture; the most recent are shown.
const sessionsShown = 200

// band is a row of the queue panel.
type band struct {
	strict int
	class  string
}

// queuePicture draws the turns without a first token.
func (s *Server) queuePicture(now time.Time) snapshot.Queue {
	q := snapshot.Queue{Rejected: s.count.full(), Canceled: s.count.canceled.Load()}
	rows := map[band]*snapshot.Band{}
	s.aloft.Range(func(_, v any) bool {
		f := v.(*flight)
		step := f.step.Load()
		if step != waits && step != prefills {
			return true
		}
		key := band{f.t.Hints.Strict, className(f.t.Class())}
		row := rows[key]
		if row == nil {
			row = &snapshot.Band{Strict: key.strict, Class: key.class}
			rows[key] = row
		}
		if step == prefills {
			row.Prefill++
			return true
		}
		row.Waiting++
		row.OldestMS = max(row.OldestMS, ms(now.Sub(f.t.Arrived)))
		return true
	})
	for _, row := range rows {
		q.Waiting += row.Waiting
		q.Prefill += row.Prefill
		q.OldestMS = max(q.OldestMS, row.OldestMS)
		q.Bands = append(q.Bands, *row)
	}
	q.Depth = q.Waiting + q.Prefill
	sort.Slice(q.Bands, func(i, j int) bool {
		a, b := q.Bands[i], q.Bands[j]
		if a.Strict != b.Strict {
			return a.Strict > b.Strict
		}
		return a.Class < b.Class
	})
	return q
}

// leasePicture draws the leases, largest first, and what they take of budgets.
func (s *Server) leasePicture(now time.Time) snapshot.Leases {
	n := s.leases.Counts()
	p := snapshot.Leases{
		Asked: n.Asked, Renewed: n.Renewed, Expired: n.Ended, Kept: n.Kept, Lost: n.Lost, Cut: n.Cut, GaveWay: n.GaveWay, Moved: n.Moved, Dropped: n.Dropped,
	}
	p.States = map[string]int{}
	live := s.liveLeases(now)
	for i := range live {
		p.States[string(live[i].State)]++
		if i < leasesShown {
			p.Live = append(p.Live, oneLease(now, &live[i]))
		}
	}
	for _, w := range s.leases.Workers() {
		p.Budgets = append(p.Budgets, snapshot.LeaseBudget(w))
	}
	return p
}

// oneLease draws a lease.
func oneLease(now time.Time, l *lease.Lease) snapshot.Lease {
	x := snapshot.Lease{
		ID: l.ID, Session: l.Session, Agent: l.Agent, Model: l.Model, Worker: l.Worker, Tokens: l.Tokens,
		TTLS: l.TTL.Seconds(), LeftS: max(l.Ends.Sub(now), 0).Seconds(), Ends: l.Ends, State: string(l.State),
		Tenant: l.Tenant, Lines: l.Lines, Held: l.Held, Found: l.Found, Source: l.By, Why: l.Why,
	}
	if l.Block > 0 {
		x.Blocks = l.Tokens / l.Block
	}
	return x
}

// sessionPicture draws the agents of the last hour, by session.
func (s *Server) sessionPicture(now time.Time) []snapshot.Session {
	var list []snapshot.Session
	at := map[string]int{}
	s.sessions.Recent(now.Add(-time.Hour), sessionsShown, func(a *session.Agent) {
		f := a.Figures()
		if f.Turns == 0 {
			return // its first turn was refused
		}
		i, ok := at[a.Who.Session]
		if !ok {
			i = len(list)
			at[a.Who.Session] = i
			list = append(list, snapshot.Session{ID: a.Who.Session, Harness: a.Who.Harness, Model: a.Model})
		}
		list[i].Agents = append(list[i].Agents, agentPicture(a, f, now))
		if f.Last.After(list[i].LastSeen) {
			list[i].LastSeen = f.Last
		}
	})
	for _, one := range list {
		sortAgents(one.Agents)
	}
	return list
}

// resting is the state of an agent without a turn of which nothing else is known.
const resting = string(life.Idle)

// agentPicture draws one agent.
func agentPicture(a *session.Agent, f session.Figures, now time.Time) snapshot.Agent {
	p := snapshot.Agent{
		ID: a.Who.Agent, Parent: a.Who.Parent, State: resting, Worker: f.Worker, Context: f.Context, Turns: f.Turns,
		Overlap: known(f.Overlap), Hit: known(f.Hit), TTFTMS: -1, LeaseS: -1, LastSeen: f.Last,
	}
	l := a.Life()
	p.Told = !l.Told.IsZero()
	switch {
	case f.Streaming > 0:
		p.State = "streaming"
	case f.Prefill > 0:
		p.State = "prefill"
	case f.Waiting > 0:
		p.State = "waiting"
	case l.Doing != life.Due:
		p.State, p.Tool, p.Since, p.Why = string(l.Doing), l.Tool, l.Since, l.Why
	}
	p.Gone, p.Left = ephemeral(f, l, now)
	if f.TTFT >= 0 {
		p.TTFTMS = ms(f.TTFT)
	}
	if left := f.LeaseEnds.Sub(now); left > 0 {
		p.LeaseS = left.Seconds()
	}
	return p
}

// deadFor is how long what an agent left behind is shown; caches of a size that
// pays have something else there by then.
const deadFor = 10 * time.Minute

// ephemeral is how many tokens of an agent's are in caches for nobody, and how
// many of them are not of its context any more.
func ephemeral(f session.Figures, l life.State, now time.Time) (gone, left int) {
	busy := f.Waiting+f.Prefill+f.Streaming > 0
	switch {
	case l.Doing == life.Done && !busy:
		gone = f.Context
	case !busy:
		gone = max(f.Context-f.Lasting, 0)
	}
	if now.Sub(f.DeadAt) < deadFor {
		left = f.Dead
	}
	return gone + left, left
}

// sortAgents puts the lead first, then the rest by name.
func sortAgents(as []snapshot.Agent) {
	sort.Slice(as, func(i, j int) bool {
		if lead := as[i].ID == "main"; lead != (as[j].ID == "main") {
			return lead
		}
		return as[i].ID < as[j].ID
	})
}

// known is nil for a ratio that is not known.
func known(r float64) *float64 {
	if r < 0 {
		return nil
	}
	return &r
}
