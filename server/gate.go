package server

import (
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/route"
)

// The gate holds turns back that would push out of every worker's cache what
// others come back for (route.Gate). A held turn keeps its place in the queue
// and lets others by. It is asked about again every quarter of a second, as many
// at once as bound what that costs, and when no worker has anything to do; it is
// let in when its time is over.
const (
	sweepMost = 64  // held turns that are asked about at once
	dueMost   = 256 // that are let in at once because their time is over
)

// holding is what the gate did with a flight.
type holding struct {
	held  bool
	asked bool // it need not be again: it was let in
	at    time.Time
	until time.Time // it is let in at the latest
	why   string
	done  *route.Hold // how it ended
}

// holds reports whether the gate holds a flight back from the candidates; mu
// must be held.
func (m *model) holds(f *flight, n *route.Need, cs []route.Candidate) bool {
	s := &f.stand
	if s.asked || s.forced || m.knobs.Gate == route.Open && !s.held {
		return false
	}
	now := time.Now()
	v := route.Gate{Mode: m.knobs.Gate}.Judge(now, s.arrived, n, cs)
	if v.Admit {
		m.lets(f, now, v)
		return false
	}
	if !s.held {
		s.held, s.at = true, now
		m.heldEver++
	}
	s.until, s.why = v.Until, v.Why
	return true
}

// lets notes that the gate let a flight in; mu must be held.
func (m *model) lets(f *flight, now time.Time, v route.Verdict) {
	s := &f.stand
	if !s.held {
		return
	}
	s.held, s.asked = false, true
	s.done = &route.Hold{MS: ms(now.Sub(s.at)), Why: s.why, Let: v.Why, Forced: v.Forced}
	if v.Forced {
		m.forced++
	}
}

// waits is for how long the gate holds a flight now, in ms; mu must be held.
func (s *standing) waits(now time.Time) float64 {
	if !s.held {
		return 0
	}
	return ms(now.Sub(s.at))
}

// heldFor is for how long the gate has held a flight, in ms; mu must be held,
// unless the flight's placement has come.
func (s *standing) heldFor(now time.Time) float64 {
	if s.done != nil {
		return s.done.MS
	}
	return s.waits(now)
}

// sweep asks the gate again about turns that it holds: first those whose time
// is over, then the next sweepMost in the queue's order. mu must be held.
func (m *model) sweep(now time.Time) {
	if m.queue.Held() == 0 {
		return
	}
	m.overdue(now)
	for range sweepMost {
		it, ok := m.queue.PopHeld()
		if !ok {
			m.queue.RecallHeld()
			return
		}
		m.seat(m.waiting[it.ID], it)
	}
}

// spare asks the gate about turns that it holds while no worker has any; mu must
// be held.
func (m *model) spare() {
	for range sweepMost {
		if len(m.seats) > 0 || m.queue.Held() == 0 {
			return
		}
		it, ok := m.queue.PopHeld()
		if !ok {
			m.queue.RecallHeld()
			continue
		}
		m.seat(m.waiting[it.ID], it)
	}
}

// overdue lets in those whose time is over: they go when there is room. mu must
// be held.
func (m *model) overdue(now time.Time) {
	due := 0
	for id, f := range m.waiting {
		s := &f.stand
		if !s.held || now.Before(s.until) {
			continue
		}
		if v := (route.Gate{Mode: m.knobs.Gate}).Due(now, s.arrived); !v.Admit {
			s.until = v.Until // the gate was turned to hold for longer
			continue
		} else if it, ok := m.queue.Take(id); ok {
			m.lets(f, now, v)
			it.Held = false
			m.queue.Return(it)
		}
		if due++; due == dueMost {
			return
		}
	}
}

// release lets all held turns be judged anew; mu must be held.
func (m *model) release() {
	m.queue.RecallHeld()
	for it, ok := m.queue.PopHeld(); ok; it, ok = m.queue.PopHeld() {
		it.Held = false
		m.queue.Return(it)
	}
}

// gatePicture adds what the gate does and did.
func (m *model) gatePicture(p *snapshot.Snapshot, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.Totals.Held += m.heldEver
	p.Totals.Forced += m.forced
	if m.queue.Held() == 0 {
		return
	}
	p.Queue.Held += m.queue.Held()
	for _, f := range m.waiting {
		p.Queue.HeldMS = max(p.Queue.HeldMS, f.stand.waits(now))
	}
}

// memoryPicture draws what the gate goes by of a worker; mu must be held.
func (m *model) memoryPicture(w *snapshot.Worker, now time.Time) {
	c := route.Candidate{Worker: w.Name}
	m.books.Fill(now, &route.Need{}, &c)
	w.Hot, w.Thrash = c.Hot, c.Thrash
	if c.Age > 0 {
		age := c.Age.Seconds()
		w.AgeS = &age
	}
}
