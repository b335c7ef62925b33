package tui

import (
	"fmt"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// tiersPanel draws how full each level of the KV cache is: what running turns
// hold and what lies there to be reused.
func (p *picture) tiersPanel(width, height int) []line {
	type row = snapshot.Tier
	t := newTable(p.brush, width-2, []column[row]{
		col("", 9, 200, left, 0, p.tierBar),
		col("USED", 4, 4, right, 0, func(r row, n int) line { return say(p.part(r.Used, r.Capacity), plain) }),
		col("CACHED", 6, 6, right, 0, func(r row, n int) line { return say(p.part(r.Cached, r.Capacity), info) }),
		col("OF", 4, 5, right, 2, func(r row, n int) line { return say(p.known(r.Capacity), muted) }),
	})
	x := box{panel: Tiers, title: "tiers", heads: t.heads(), width: width, height: height}
	for _, r := range p.s.Tiers {
		x.rows = append(x.rows, t.row(r))
	}
	if len(p.s.Tiers) == 0 {
		x.rows = []line{say(" "+p.g.unknown, muted)}
	}
	if n := p.s.Totals.Orphans; n > 0 {
		x.foot, x.loud = []string{fmt.Sprintf("%s %s events dropped", p.g.warn, p.count(float64(n)))}, warn
	}
	return p.draw(x)
}

// tierBar names a tier and draws what is held, then what more is cached.
func (p *picture) tierBar(x snapshot.Tier, n int) line {
	word := 4
	for _, o := range p.s.Tiers {
		word = max(word, min(width(p.clean(o.Name)), 6))
	}
	name := p.fit(say(p.middle(p.clean(x.Name), word), plain), word, left)
	room := n - word - 1
	if x.Capacity <= 0 || room < 2 {
		return name
	}
	whole := float64(x.Capacity)
	held, cached := float64(max(x.Used, 0)), float64(max(x.Cached, 0))
	return join(name, blank(1), p.twoBars(held/whole, max(cached-held, 0)/whole, room, good))
}

// part is a share of a capacity, the number itself when that is unknown.
func (p *picture) part(n, of int) string {
	switch {
	case n < 0:
		return p.g.unknown
	case of <= 0:
		return p.count(float64(n))
	}
	return p.percent(float64(n)/float64(of), 0)
}

// known is a number of which 0 is unknown.
func (p *picture) known(n int) string {
	if n <= 0 {
		return p.g.unknown
	}
	return p.count(float64(n))
}
