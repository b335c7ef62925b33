package route

// pickLMetric is LMetric as published (arXiv 2603.15202): least new tokens ×
// batch. The rule "kv" adds the prefill that already waits to the tokens.
func pickLMetric(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	for i := range d.Parts {
		p := &d.Parts[i]
		p.Cost = float64(p.New) * (float64(p.InFlight) + 1)
	}
	d.least(&n, Cheapest)
	return d
}
