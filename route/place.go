package route

// Place decides with a strategy. Where some workers serve one part of a turn
// only, it takes two: the strategy picks who computes the prompt, then, as
// another decision, who writes the answer. A worker that serves both may be
// picked twice and then has the turn to itself; where no worker can compute a
// prompt for others, such a worker is the only kind that is left.
func Place(s Strategy, n Need, cs []Candidate) Decision {
	for i := range cs {
		if cs[i].Kind != Both && n.Stage == Whole {
			return split(s, n, cs)
		}
	}
	return s.Pick(n, cs)
}

// split is Place for workers of several kinds.
func split(s Strategy, n Need, cs []Candidate) Decision {
	n.Stage = Prefill
	first := s.Pick(n, cs)
	n.Stage = Decoding
	d := s.Pick(n, cs)
	if first.Worker == "" || d.Worker == "" {
		n.Stage = Whole // one of the parts has nobody now
		return s.Pick(n, cs)
	}
	for i := range d.Parts {
		if cs[i].Kind == PrefillOnly {
			d.Parts[i] = first.Parts[i]
		}
	}
	if d.Prefill = first.Worker; d.Prefill == d.Worker {
		d.Prefill = ""
	}
	d.Overlap = first.Overlap
	return d
}
