package curve

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/agentinfer/dyn/replay/trace"
)

// slot is a turn's place in the order.
type slot struct {
	at      time.Duration
	session int
	turn    int
}

// schedule orders all turns by their times.
func schedule(t *trace.Trace, o Options) (order []slot) {
	starts := make([]time.Duration, len(t.Sessions))
	var lead []int
	for i := range t.Sessions {
		starts[i] = t.Sessions[i].At
		if t.Sessions[i].Parent == 0 {
			lead = append(lead, i)
		}
	}
	rng := rand.New(rand.NewPCG(o.Seed, 7))
	if !t.Timed {
		rng.Shuffle(len(lead), func(i, j int) { lead[i], lead[j] = lead[j], lead[i] })
	}
	free := make([]time.Duration, min(o.Sessions, len(lead))) // when each place is free
	for i := range free {
		free[i] = time.Duration(rng.Float64() * float64(o.MaxPause))
	}
	after := map[[2]int]time.Duration{} // when turns of parents were, by session and turns behind
	for _, i := range lead {
		at := starts[i]
		place := 0
		if !t.Timed {
			for j := range free {
				if free[j] < free[place] {
					place = j
				}
			}
			at = free[place]
		}
		end := session(&order, &t.Sessions[i], i, at, o, after)
		if !t.Timed {
			free[place] = end + time.Second
		}
	}
	for i := range t.Sessions {
		if s := &t.Sessions[i]; s.Parent > 0 {
			at := starts[i]
			if begun, ok := after[[2]int{s.Parent - 1, s.After}]; ok && !t.Timed {
				at = begun + time.Second
			}
			session(&order, s, i, at, o, after)
		}
	}
	slices.SortStableFunc(order, func(a, b slot) int { return cmp.Compare(a.at, b.at) })
	return order
}

// session puts the turns of one into the order, from a time on, and tells when
// the last of them is.
func session(order *[]slot, s *trace.Session, i int, at time.Duration, o Options, after map[[2]int]time.Duration) time.Duration {
	for j := range s.Turns {
		u := &s.Turns[j]
		if j > 0 {
			wait := u.At - s.Turns[j-1].At
			if wait <= 0 {
				wait = u.Pause
			}
			at += min(wait, o.MaxPause)
		}
		*order = append(*order, slot{at, i, j})
		after[[2]int{i, j + 1}] = at
	}
	return at
}
