package route

// pickNext takes the workers that may be picked in turn, by name.
func pickNext(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	open := 0
	for i := range d.Parts {
		d.Parts[i].Cost = product(&d.Parts[i])
		if d.Parts[i].Out == "" {
			open++
		}
	}
	if open == 0 {
		return d
	}
	turn := int(n.Seq % uint64(open))
	for i := range d.Parts {
		if d.Parts[i].Out == "" && d.rank(i) == turn {
			d.choose(&d.Parts[i], Next)
		}
	}
	return d
}

// rank is how many parts that are not out come before part i by name.
func (d *Decision) rank(i int) (n int) {
	for j := range d.Parts {
		if d.Parts[j].Out == "" && d.Parts[j].Worker < d.Parts[i].Worker {
			n++
		}
	}
	return n
}
