package route

// pickRandom draws a worker, each with the same chance.
func pickRandom(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	if p, _ := d.drawn(salted(&n)); p != nil {
		d.choose(p, Drawn)
	}
	return d
}
