package tui

import (
	"fmt"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// leaseSoon is the time left, in seconds, below which a lease is marked.
const leaseSoon = 30

// leasesPanel draws the prefixes that somebody asked to keep. They are asked
// for, which is all that is known: nothing here says that they are kept.
func (p *picture) leasesPanel(width, height int) []line {
	type row = snapshot.Lease
	t := newTable(p.brush, width-2, []column[row]{
		col("", 9, 200, left, 0, func(r row, n int) line { return say(p.middle(p.leaseName(r), n), plain) }),
		col("TOKENS", 6, 6, right, 0, func(r row, n int) line { return say(p.count(float64(r.Tokens)), plain) }),
		col("BLOCKS", 6, 6, right, 1, func(r row, n int) line { return say(p.count(float64(r.Blocks)), muted) }),
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
	words := []string{fmt.Sprintf("%d asked", len(x.Live))}
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
	words = append(words, fmt.Sprintf("in all %s", p.count(float64(x.Asked))))
	if x.Renewed > 0 {
		words = append(words, p.count(float64(x.Renewed))+" renewed")
	}
	if x.Expired > 0 {
		words = append(words, p.count(float64(x.Expired))+" expired")
	}
	return words
}
