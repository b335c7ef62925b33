package server

import (
	"context"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// A turn waits in the queue for a worker that is being started anew where it is
// known to come back in a moment (turn.WorkerInfo.Back): that is sooner than
// clients try again. Where it takes longer, or nobody knows, they are told at
// once. What an engine can do that an earlier daemon started, and that is being
// taken over, is not known yet: who asks then waits before the queue.
const (
	backMost = 10 * time.Second // how far away that may be
	backLate = 5 * time.Second  // how much later than that it may be
)

// returning reports whether the worker is waited for; its model's mutex must
// be held.
func (b *member) returning(now time.Time) bool {
	back := b.info.Back
	return b.info.State != turn.Ready && !back.IsZero() && back.Sub(now) <= backMost && now.Sub(back) < backLate
}

// usable reports whether turns are taken for the worker now; its model's mutex
// must be held.
func (b *member) usable(now time.Time) bool { return b.info.State == turn.Ready || b.returning(now) }

// comes reports whether the flight waits for a worker that comes back; mu must
// be held. Whether it still does is looked at once a second, see observe.
func (m *model) comes(f *flight) bool {
	now := time.Now()
	for name, b := range m.members {
		if b.returning(now) && !f.cannot(name) { // another life than the one that may have lost it
			return true
		}
	}
	return false
}

// serves reports whether some worker takes turns, or will in a moment.
func (m *model) serves() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, b := range m.members {
		if b.usable(now) {
			return true
		}
	}
	return false
}

// awaited reports whether an engine of an earlier daemon is about to take
// turns: none is known yet, or one is not met yet that was not started anew.
// mu must be held.
func (m *model) awaited(now time.Time) bool {
	if !now.Before(m.Awaited) {
		return false
	}
	for _, b := range m.members {
		if b.info.State == turn.Starting && (b.info.Adopted || b.info.PID == 0) {
			return true
		}
	}
	return len(m.members) == 0
}

// meets waits while the model is not served and an engine is awaited, or until
// the client leaves. It reports whether the model is served now.
func (s *Server) meets(c *call, m *model) bool {
	if m.serves() {
		return true
	}
	ctx, cancel := context.WithDeadline(s.life, m.Awaited)
	defer cancel()
	defer s.watches.watch(c.Conn(), cancel)()
	for {
		news, more := m.listen()
		if !more || m.serves() {
			return m.serves()
		}
		select {
		case <-news:
		case <-ctx.Done():
			return false
		}
	}
}

// listen returns what is closed when a member has changed; false when nobody
// is awaited.
func (m *model) listen() (news <-chan struct{}, awaited bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.awaited(time.Now()) {
		return nil, false
	}
	if m.news == nil {
		m.news = make(chan struct{})
	}
	return m.news, true
}

// tell wakes those who listen; mu must be held.
func (m *model) tell() {
	if m.news != nil {
		close(m.news)
		m.news = nil
	}
}

// unavailable is the 503 of a model that nobody serves now. It tells when to
// try again where that is known.
func (m *model) unavailable() *dialect.Problem {
	m.mu.Lock()
	defer m.mu.Unlock()
	wait := time.Duration(0)
	for _, b := range m.members {
		if left := time.Until(b.info.Back); left > 0 && (wait == 0 || left < wait) {
			wait = left
		}
	}
	return &dialect.Problem{
		Kind: dialect.Unavailable, Message: "service unavailable: no worker of model " + m.ID + " is ready; see dyn ps",
		RetryAfter: max(wait, retryAfter).Round(time.Second),
	}
}
