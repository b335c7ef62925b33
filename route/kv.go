package route

import "github.com/zeebo/xxh3"

// Pick decides by the rule "kv", see the package comment.
func Pick(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	for i := range d.Parts {
		p := &d.Parts[i]
		p.Cost = product(p)
	}
	d.least(&n, Cheapest)
	return d
}

// product is what the rule compares.
func product(p *Part) float64 {
	return (float64(p.Pending) + float64(p.New)) * (float64(p.InFlight) + 1)
}

// salted is what an order of the turn's own is made with.
func salted(n *Need) uint64 { return xxh3.HashStringSeed(n.Turn, n.Seed) }

// cheaper orders parts by cost, then by turns in flight, then by names in an
// order of the turn's own.
func cheaper(a, b *Part, salt uint64) bool {
	switch {
	case a.Cost != b.Cost:
		return a.Cost < b.Cost
	case a.InFlight != b.InFlight:
		return a.InFlight < b.InFlight
	}
	x, y := lot(salt, a.Worker), lot(salt, b.Worker)
	if x != y {
		return x < y
	}
	return a.Worker < b.Worker
}
