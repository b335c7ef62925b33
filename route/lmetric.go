package route

// lmetric is LMetric as published (arXiv 2603.15202): least new tokens × batch.
// The rule "kv" adds the prefill that already waits to the tokens. With the
// knob memory it has a price of memory, too: among those that pay for the new
// tokens are so many that will have to compute again what these displace, from
// the moment on that sessions at home want more than the share start of a
// cache, see tight.
type lmetric struct{ memory, start float64 }

// lmetricKnobs are the published rule.
var lmetricKnobs = Knobs{"memory": 0, "start": 0.5}

func newLMetric(k Knobs) Strategy { return lmetric{k["memory"], k["start"]} }

// Pick is of Strategy.
func (r lmetric) Pick(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	for i := range d.Parts {
		p := &d.Parts[i]
		p.Cost = r.cost(&n, &cs[i], p)
	}
	d.least(&n, Cheapest)
	return d
}

// cost is the product.
func (r lmetric) cost(n *Need, c *Candidate, p *Part) float64 {
	batch := float64(p.InFlight) + 1
	if r.memory != 0 {
		batch += r.memory * tight(n, c, r.start)
	}
	return float64(p.New) * batch
}
