package policy

import "time"

// leaseShare is which share of a cache leased lines may hold on to.
const leaseShare = 0.3

// lease is LRU among lines without a lease; leased ones give way when those
// have nothing, when their time is over, or when they have more than their
// share.
type lease struct {
	scored
	room int // tokens
}

func newLease(size int) Policy { return lease{lru, int(leaseShare * float64(size))} }

// Victim is the line unused for longest, leased ones left out as long as they
// have a right to stay.
func (l lease) Victim(leaves []*Run, now time.Duration) *Run {
	held := 0
	var free, bound *Run
	for _, r := range leaves {
		switch {
		case r.Leased && !r.Over && now-r.Last <= keepFor:
			held += r.Depth + r.Tokens
			if !r.Fixed {
				bound = older(bound, r)
			}
		case !r.Fixed:
			free = older(free, r)
		}
	}
	if free == nil || bound != nil && held > l.room {
		free = older(free, bound)
	}
	return free
}

// older is the run that was not used for longer; either may be nil.
func older(a, b *Run) *Run {
	switch {
	case a == nil:
		return b
	case b == nil || a.Turn < b.Turn || a.Turn == b.Turn && (a.Depth > b.Depth || a.Depth == b.Depth && a.ID < b.ID):
		return a
	}
	return b
}
