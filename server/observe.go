package server

import (
	"context"
	"time"
)

// observe looks after what changes without a turn: workers of which nothing
// comes, the load that others put on attached engines, turns that wait for it
// to go, indexes that have parted from what engines report, and agents that
// are over. It returns when ctx ends.
func (s *Server) observe(ctx context.Context) {
	tick, slow := time.NewTicker(time.Second), time.NewTicker(time.Minute)
	defer tick.Stop()
	defer slow.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-slow.C:
			s.hush(now)
		case now := <-tick.C:
			s.leased(now)
			for _, m := range s.all() {
				m.feel()
				m.observe()
				for _, p := range m.parted(now) {
					s.mend(m, p, now)
				}
			}
		}
	}
}

// observe reads what attached engines report. What they report beyond our own
// turns is foreign: other clients' work, which fills the same slots. Workers
// of ours have no other clients, and what they report lags behind what we
// know, so it is not read for them. How many turns an attached engine runs at
// once is not told by any API: it is learnt while it lets some wait.
func (m *model) observe() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, b := range m.members {
		if !b.info.Attached {
			continue
		}
		load := b.worker.Load()
		if load.At.Equal(b.loadAt) {
			continue
		}
		b.loadAt = load.At
		own, _ := m.books.Busy(name)
		b.foreign = max(load.Running+load.Waiting-own, 0)
		b.used, b.slots = load.KVUsed, 0
		if load.Waiting > 0 {
			b.slots = max(load.Running, 1) // an engine that lets turns wait is full
		}
	}
	m.pump()
}
