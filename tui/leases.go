package tui

import (
	"fmt"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// leaseSoon is the time left, in seconds, below which a lease is marked.
const leaseSoon = 30

// leasesPanel draws the prefixes that somebody asked to keep, and what is known
// of each: kept is only what a worker was seen to have.
func (p *picture) leasesPanel(width, height int) []line {
	type row = snapshot.Lease
	t := newTable(p.brush, width-2, []column[row]{
		col("", 9, 200, left, 0, func(r row, n int) line { return say(p.middle(p.leaseName(r), n), plain) }),
		col("TOKENS", 6, 6, right, 0, func(r row, n int) line { return say(p.count(float64(r.Tokens)), plain) }),
		col("HELD", 6, 6, right, 1, func(r row, n int) line { return say(p.count(float64(r.Held)), muted) }),
		col("STATE", 5, 8, left, 3, func(r row, n int) line { return say(p.middle(p.clean(r.State), n), stateMeaning(r.State)) }),
		col("LEFT", 5, 5, right, 0, func(r row, n int) line { return say(p.seconds(p.left(r)), leaseMeaning(p.left(r))) }),
		col("", 1, 1, left, 2, func(r row, n int) line { return p.leaseBar(r) }),
	})
	x := box{panel: Leases, title: "leases", heads: t.heads(), width: width, height: height}
	live := p.s.Leases.Live
	at := p.at(Leases)
	from, to := window(len(live), height-2, at)
	for i := from; i < to; i++ {
		l := t.row(live[i])
		if p.v.Focus == Leases && i == at {
			l = p.pick(l)
		}
		x.rows = append(x.rows, l)
	}
	if len(live) == 0 {
		x.rows = []line{say(" none asked", muted)}
	}
	x.foot = p.leasesFoot(len(live) - (to - from))
	return p.draw(x)
}

// leaseName says whose lease it is.
func (p *picture) leaseName(x snapshot.Lease) string {
	name := p.short(x.Session)
	if x.Agent != "" && x.Agent != "main" {
		name += "/" + p.clean(x.Agent)
	}
	if name == "" {
		name = p.short(x.ID)
	}
	return name
}

// left is the time a lease has left at the frame's instant, in seconds.
func (p *picture) left(x snapshot.Lease) float64 {
	if x.Ends.IsZero() || p.now.IsZero() {
		return x.LeftS
	}
	return max(x.Ends.Sub(p.now).Seconds(), 0)
}

// stateMeaning is how a lease's state is drawn.
func stateMeaning(state string) meaning {
	switch state {
	case "kept":
		return good
	case "cut", "gave way", "lost":
		return warn
	}
	return muted
}

func leaseMeaning(left float64) meaning {
	if left < leaseSoon {
		return warn
	}
	return plain
}

// leaseBar is one sign for the share of its time that a lease has left.
func (p *picture) leaseBar(x snapshot.Lease) line {
	if x.TTLS <= 0 {
		return blank(1)
	}
	share := min(p.left(x)/x.TTLS, 1)
	i := int(share * float64(len(p.g.sparks)-1))
	return say(p.g.sparks[max(i, 0)], info)
}

// leasesFoot sums the leases; hidden is the number that had no room.
func (p *picture) leasesFoot(hidden int) []string {
	x := p.s.Leases
	if x.Asked == 0 && len(x.Live) == 0 {
		return nil
	}
	words := leaseStates(x.States)
	if hidden > 0 {
		words = append(words, fmt.Sprintf("%d not shown", hidden))
	}
	soon := 0
	for _, l := range x.Live {
		if p.left(l) < leaseSoon {
			soon++
		}
	}
	if soon > 0 {
		words = append(words, fmt.Sprintf("%d end <30s", soon))
	}
	if seen := x.Kept + x.Lost; seen > 0 {
		words = append(words, fmt.Sprintf("found %.0f%% of %s", 100*float64(x.Kept)/float64(seen), p.count(float64(seen))))
	}
	words = append(words, fmt.Sprintf("in all %s", p.count(float64(x.Asked))))
	for _, more := range []struct {
		n    int64
		word string
	}{{x.Cut, "cut"}, {x.GaveWay, "gave way"}, {x.Expired, "ended"}, {x.Dropped, "dropped"}} {
		if more.n > 0 {
			words = append(words, p.count(float64(more.n))+" "+more.word)
		}
	}
	return words
}

// leaseStates counts leases by what is known of them.
func leaseStates(states map[string]int) (words []string) {
	for _, state := range []string{"asked", "kept", "cut", "gave way", "lost"} {
		if n := states[state]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state))
		}
	}
	return words
}
