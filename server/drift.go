package server

import (
	"fmt"
	"math"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/server/gauge"
	"github.com/agentinfer/dyn/turn"
)

// When what is believed of a worker has parted from what its engine reports:
// by more than this share of the prompts, of some turns at least, for so long.
// A resync that does not help is tried again after a pause that doubles.
const (
	driftMost  = 0.10
	driftTurns = 3
	driftFor   = time.Minute
	driftPause = 2 * time.Minute // the window has forgotten what was before
	driftRests = time.Hour
)

// drift follows one worker. It has no clock; its zero value is ready.
type drift struct {
	since time.Time     // when it became too much; zero is that it is not
	until time.Time     // nothing is done before
	pause time.Duration // before the next try
	syncs int           // how often something was done
	last  time.Time     // when
}

// drifted is overlap − hit of the turns that a window judges by; ok is false
// where there are none.
func drifted(s *gauge.Sums) (off float64, ok bool) {
	if s.JudgedPrompt == 0 {
		return 0, false
	}
	return float64(s.JudgedOverlap-s.JudgedCached) / float64(s.JudgedPrompt), true
}

// due takes a look at the last minute and reports whether something is to be
// done now.
func (d *drift) due(now time.Time, s *gauge.Sums) bool {
	off, ok := drifted(s)
	if !ok || s.Judged < driftTurns || math.Abs(off) <= driftMost {
		d.since = time.Time{}
		if ok && s.Judged >= driftTurns {
			d.pause = 0
		}
		return false
	}
	if d.since.IsZero() {
		d.since = now
	}
	if now.Sub(d.since) < driftFor || now.Before(d.until) {
		return false
	}
	d.pause = min(max(2*d.pause, driftPause), driftRests)
	d.since, d.last, d.until = time.Time{}, now, now.Add(d.pause)
	d.syncs++
	return true
}

// resyncer is a Worker whose holdings can be learnt anew.
type resyncer interface {
	// Resync begins that, or is false where its engine tells nothing again.
	Resync() bool
}

// parting is a worker whose index is wrong.
type parting struct {
	b    *member
	info turn.WorkerInfo
	why  string
}

// parted returns the workers for which something is to be done now.
func (m *model) parted(now time.Time) (all []parting) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.members {
		sum := b.window.Look(now)
		if b.index == nil || b.info.State != turn.Ready || !b.drift.due(now, sum) {
			continue
		}
		all = append(all, parting{b, b.info, fmt.Sprintf("%.0f%% of %d prompt tokens were believed to be held, %.0f%% were found, in %d turns",
			100*float64(sum.JudgedOverlap)/float64(sum.JudgedPrompt), sum.JudgedPrompt, 100*float64(sum.JudgedCached)/float64(sum.JudgedPrompt), sum.Judged)})
	}
	return all
}

// mend has a worker's holdings learnt anew, and says so in the ledger. What was
// only assumed of an engine without events is forgotten.
func (s *Server) mend(m *model, p parting, now time.Time) {
	event, how := "resync", "its events are learnt anew"
	r, ok := p.b.worker.(resyncer)
	switch {
	case ok && r.Resync():
	case p.info.Caps.Events:
		event, how = "drift", "its engine tells nothing again"
	default:
		m.apply(turn.KVBatch{Worker: p.info.Name, Events: []turn.KVEvent{{Kind: turn.KVRestart}}})
		how = "what was assumed of it is forgotten"
	}
	s.log.Warn("index and engine part", "worker", p.info.Name, "why", p.why, "then", how)
	s.ledger.Worker(ledger.WorkerEvent{
		At: now, Worker: p.info.Name, Model: m.ID, PID: p.info.PID, URL: p.info.URL, Event: event, Detail: p.why + "; " + how,
	})
}
