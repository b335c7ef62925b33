package route

// pickTwo draws two workers and takes the one with fewer turns in flight
// (Mitzenmacher's power of two choices): nearly as even as to look at all,
// and many routers that do not know of each other do not all take the same.
func pickTwo(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	for i := range d.Parts {
		p := &d.Parts[i]
		p.Cost = float64(p.InFlight)
	}
	a, b := d.drawn(salted(&n))
	if a == nil {
		return d
	}
	a.term("drawn", 1)
	if b != nil {
		b.term("drawn", 1)
		if b.Cost < a.Cost || b.Cost == a.Cost && b.Pending < a.Pending {
			a = b
		}
	}
	d.choose(a, Better)
	return d
}
