package server

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/agentinfer/dyn/cache/lease"
)

// liveLeases are the leases that have not ended, the largest first: those of
// the book, and those that waiting turns ask for, which the book hears of when
// they have a seat.
func (s *Server) liveLeases(now time.Time) []lease.Lease {
	live := s.leases.Live(now)
	n := len(live)
	have := make(map[lease.Line]bool, n)
	for i := range live {
		have[live[i].Line] = true
	}
	for _, m := range s.all() {
		live = append(live, m.askedLeases(have)...)
	}
	if len(live) > n {
		slices.SortStableFunc(live, func(a, b lease.Lease) int { return cmp.Compare(b.Tokens, a.Tokens) })
	}
	return live
}

// askedLeases are those that waiting turns ask for, of agents that have none.
func (m *model) askedLeases(have map[lease.Line]bool) (asked []lease.Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.waiting {
		if len(f.marks) == 0 {
			continue
		}
		line := f.line()
		if have[line] {
			continue
		}
		_, block := f.chained(&seat{})
		for i, mark := range f.marks {
			asked = append(asked, lease.Lease{
				ID: fmt.Sprintf("%s.%d", f.t.ID, i), Tenant: f.t.Tenant, Line: line, Block: block, Tokens: mark.Tokens, TTL: mark.TTL, Lines: 1,
				Asked: f.stand.arrived, Ends: f.stand.arrived.Add(mark.TTL), By: "cache_control", State: lease.Asked, Turn: f.t.ID, Found: -1,
			})
		}
	}
	return asked
}
