package server

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/agentinfer/dyn/cache/pause"
	"github.com/agentinfer/dyn/server/life"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/turn"
)

// horizon is how soon an agent has to come back for what is held for it to pay.
const horizon = time.Minute

// absences are what is learnt of how long agents are away. The zero value has
// learnt nothing.
type absences struct {
	mu     sync.Mutex // guards learnt; a leaf
	learnt *pause.Estimator
}

// with calls f with the estimator.
func (p *absences) with(f func(*pause.Estimator)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.learnt == nil {
		p.learnt = pause.New()
	}
	f(p.learnt)
}

// returns is how likely an agent comes back within the horizon.
func (p *absences) returns(away pause.Key, idle time.Duration) (share float64) {
	if away.Class == "" {
		away.Class = pause.Tool
	}
	p.with(func(e *pause.Estimator) { share = e.Returns(away, idle, horizon) })
	return share
}

// came learns how long the flight's agent was away: since its last turn landed.
// Only its own line of turns counts, once each.
func (f *flight) came() {
	if f.choice > 0 || f.t.Who.Kind != "turn" {
		return
	}
	since := f.a.Figures().Landed
	if since.IsZero() || f.t.Arrived.Before(since) {
		return
	}
	key := pause.Key{Class: pause.Human, Tenant: f.t.Tenant}
	if n := len(f.t.Messages); n > 0 && f.t.Messages[n-1].Role == turn.ToolRole {
		key.Class, key.Tool = pause.Tool, f.caller.tool
	}
	f.s.pauses.with(func(e *pause.Estimator) { e.Observe(key, f.t.Arrived.Sub(since)) })
}

// stayed learns that an agent did not come back from what it was away for.
func (s *Server) stayed(a *session.Agent) {
	key := pause.Key{Class: pause.Human}
	if l := a.Life(); l.Doing == life.Tool {
		key.Class, key.Tool = pause.Tool, l.Tool
	}
	s.pauses.with(func(e *pause.Estimator) { e.Observe(key, pause.Never) })
}

// away is what the flight's agent is away for after its answer.
func (f *flight) away(an *analysis) pause.Key {
	key := pause.Key{Class: pause.Human, Tenant: f.t.Tenant}
	if an != nil && an.reason == turn.Called {
		key.Class, key.Tool = pause.Tool, an.called
	}
	return key
}

// pausesName is what is learnt of pauses among what is kept.
const pausesName = "pauses"

// RecallPauses takes what an earlier daemon had learnt of pauses, as Learnt told
// it by the name "pauses".
func (s *Server) RecallPauses(b []byte) error {
	e := pause.New()
	if err := json.Unmarshal(b, e); err != nil {
		return fmt.Errorf("recall pauses: %w", err)
	}
	s.pauses.mu.Lock()
	defer s.pauses.mu.Unlock()
	s.pauses.learnt = e
	return nil
}

// memory is what is learnt, as JSON; nil where there is nothing.
func (p *absences) memory() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.learnt == nil {
		return nil
	}
	b, err := json.Marshal(p.learnt)
	if err != nil {
		return nil
	}
	return b
}
