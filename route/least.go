package route

// pickLeast takes the worker with the fewest turns in flight, whatever they
// ask and whatever it holds.
func pickLeast(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	for i := range d.Parts {
		p := &d.Parts[i]
		p.Cost = float64(p.InFlight)
	}
	d.least(&n, Cheapest)
	return d
}
