package route

import (
	"cmp"
	"slices"
)

// sglang is SGLang's cache_aware policy with its defaults 0.3, 64 and 1.5.
// While the turns in flight differ by more than abs between two workers, and
// by more than the factor rel, the one with fewest takes the turn. Else the
// one with the longest match does, if that is over the share cache of the
// prompt; else the one with the smallest tree, which is what it was sent to
// compute so far, up to treeMost.
//
// It is here to be compared with. A system prompt that all sessions share is a
// match over 0.3, and 64 turns apart is more than agents ever are: then all of
// them go to one worker, and the rule cannot tell.
//
// The match is by the index here, the tree by what was sent and cached.
type sglang struct {
	cache, abs, rel float64
	tree            map[string]float64 // tokens, by worker
}

var sglangKnobs = Knobs{"cache": 0.3, "abs": 64, "rel": 1.5}

// treeMost is the limit of a tree, 2^26 characters, in tokens.
const treeMost = 1 << 24

func newSGLang(k Knobs) Strategy {
	return &sglang{cache: k["cache"], abs: k["abs"], rel: k["rel"], tree: map[string]float64{}}
}

// Pick is of Strategy.
func (s *sglang) Pick(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	var loads span
	best := 0.0
	for i := range d.Parts {
		p := &d.Parts[i]
		match := float64(p.Overlap) / float64(max(n.Prompt, 1))
		p.term("match", match)
		p.term("tree", s.size(p))
		if p.Out == "" {
			loads.take(float64(p.InFlight))
			best = max(best, match)
		}
	}
	why := Emptiest
	switch {
	case loads.most-loads.least > s.abs && loads.most > s.rel*loads.least:
		why = Balance
	case best > s.cache:
		why = Longest
	}
	for i := range d.Parts {
		switch p := &d.Parts[i]; why {
		case Balance:
			p.Cost = float64(p.InFlight)
		case Longest:
			p.Cost = 1 - p.Terms[0].Value
		default:
			p.Cost = s.size(p)
		}
	}
	if why == Longest {
		d.choose(d.matched(n.Prefix), why)
		return d
	}
	d.least(&n, why)
	return d
}

// matched is the part with the least cost, the longest match. Of several the
// policy takes whichever its tree names first, which is the same one time and
// again, however busy it is.
func (d *Decision) matched(prefix uint64) *Part {
	open, costs := d.open()
	open = slices.DeleteFunc(open, func(p *Part) bool { return p.Cost > costs.least })
	return slices.MinFunc(open, func(a, b *Part) int { return cmp.Compare(lot(prefix, a.Worker), lot(prefix, b.Worker)) })
}

// size is a worker's tree and what is on its way there.
func (s *sglang) size(p *Part) float64 { return s.tree[p.Worker] + float64(p.Pending) }

// Observe is of Learner.
func (s *sglang) Observe(o Outcome) {
	s.tree[o.Worker] = min(s.tree[o.Worker]+float64(max(o.Prompt-max(o.Cached, 0), 0)), treeMost)
}

// Forget is of Learner.
func (s *sglang) Forget(worker string) { delete(s.tree, worker) }
