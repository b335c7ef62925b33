package route

import "time"

// Lease notes that so many tokens of a session are leased at a worker until
// some time, or none any more. While it is idle they count whole: in what
// sessions there will want, which is the memory price that others pay, and in
// what the gate takes for in use. A session that is not at home there, or has
// ended, has no lease.
func (b *Books) Lease(now time.Time, session, worker string, tokens int, until time.Time) {
	s := b.homes[session]
	if s == nil || s.at.name != worker || s.closed && tokens > 0 {
		return
	}
	if !until.After(now) {
		tokens = 0
	}
	s.at.count(now, s, -1)
	s.leased, s.until = max(tokens, 0), until
	s.at.count(now, s, 1)
	if s.leased > 0 && !s.listening {
		s.listening = true
		s.at.leases = append(s.at.leases, s)
	}
}

// pledged is how many of the session's tokens are leased.
func (s *stay) pledged() int { return min(s.leased, s.tokens) }

// lapse takes back the leases whose time is over, or that the sums have no more.
func (a *account) lapse(now time.Time) {
	kept := a.leases[:0]
	for _, s := range a.leases {
		switch {
		case s.dropped || !s.home || s.leased == 0:
		case !s.until.After(now):
			a.count(now, s, -1)
			s.leased = 0
			a.count(now, s, 1)
		default:
			kept = append(kept, s)
			continue
		}
		s.listening = false
	}
	clear(a.leases[len(kept):])
	a.leases = kept
}
