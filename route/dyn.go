package route

import "math"

// dyn is the rule "dyn": the turn goes where it costs the fewest milliseconds,
// its own and those of others, see the package comment. It has no memory.
type dyn struct {
	memory, start, stall, batch, off, temperature float64
}

// dynKnobs are the defaults. Those of the memory price were the best of a few
// tried on three seeds with sessions that nearly fill the workers' caches and
// with more than fit, and held on unseen ones; see docs/decisions.
var dynKnobs = Knobs{
	"memory":      8,   // how many times what is displaced will be asked for again
	"start":       0.5, // share of the KV cache from which on room has a price
	"stall":       0.5, // share of a prefill that decoding turns stand still
	"batch":       2,   // times the memory price for turns that nobody waits for
	"off":         3,   // factor between measured and predicted times from which on predictions are not used
	"temperature": 0,
}

func newDyn(k Knobs) Strategy {
	return &dyn{k["memory"], k["start"], k["stall"], k["batch"], k["off"], k["temperature"]}
}

// Off is the reason where predictions were not to be used.
const Off Reason = "lowest new tokens × turns: predicted times are off"

// Pick prices every candidate and takes the cheapest.
func (r *dyn) Pick(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	if r.lost(&d, cs) {
		for i := range d.Parts {
			d.Parts[i].Cost = lmetric{}.cost(&n, &cs[i], &d.Parts[i])
		}
		d.least(&n, Off)
		return d
	}
	quick := quickest(&d, cs)
	for i := range cs {
		r.price(&n, &cs[i], &d.Parts[i], quick)
	}
	d.tempered(&n, or(n.Overrides.Temperature, r.temperature), Cheapest)
	return d
}

// lost reports whether the predictions of a worker that may be picked are so
// far off that milliseconds cannot be compared.
func (r *dyn) lost(d *Decision, cs []Candidate) bool {
	for i := range cs {
		if off := cs[i].Off; d.Parts[i].Out == "" && off > 0 && (off > r.off || off*r.off < 1) {
			return true
		}
	}
	return false
}

// sameKind is how many times as long as the quickest's a worker's step may
// take before that has a price: less is what measuring workers of one kind
// gives too.
const sameKind = 2

// quickest is the shortest step that is known of a worker that may be picked; 0
// without one.
func quickest(d *Decision, cs []Candidate) (step float64) {
	for i := range cs {
		if s := cs[i].Rates.known().Step; s > 0 && d.Parts[i].Out == "" && (step == 0 || s < step) {
			step = s
		}
	}
	return step
}

// price fills the terms of a part and adds them up. quick is the shortest step
// of those that the turn may go to.
func (r *dyn) price(n *Need, c *Candidate, p *Part, quick float64) {
	rates := c.Rates.known()
	prompt := float64(n.Prompt)
	gpu := float64(p.Overlap)
	if credit := n.Overrides.OverlapCredit; credit != nil {
		gpu = min(max(gpu**credit, 0), prompt)
	}
	missing := max(prompt-gpu, 1)
	lower, reload := 0.0, 0.0
	for tier, tokens := range c.Lower {
		t := min(max(float64(tokens), 0), max(missing-1-lower, 0))
		lower += t
		reload += t * rates.Reload[tier]
	}
	prefill := rates.Prefill(missing-lower, gpu+lower) + reload
	decoding := float64(max(c.Decoding, 0))

	if n.Stage != Decoding {
		p.PrefillMS = thousandth((prefill - reload) * or(n.Overrides.PrefillWeight, 1))
		p.BacklogMS = thousandth(max(c.Backlog, 0) / urgency(n))
		p.StallMS = thousandth(r.stall * prefill * decoding)
	}
	p.ReloadMS = thousandth(reload)
	if n.Stage != Prefill {
		longer := max(rates.Step-sameKind*quick, 0)
		p.SlowdownMS = thousandth(max(n.Output, 0) * (longer + rates.Context*(float64(max(c.Active, 0))+prompt) + rates.Seq*(decoding+1)))
	}
	p.MemoryMS = thousandth(r.displaced(n, c, missing, rates))
	p.Cost = thousandth(p.PrefillMS + p.ReloadMS + p.BacklogMS + p.SlowdownMS + p.StallMS + p.MemoryMS)
}

// displaced is the memory price: how long it will take to compute again what
// the missing tokens push out, which sessions at home there will want. It is
// nothing while the cache has room for all of them.
func (r *dyn) displaced(n *Need, c *Candidate, missing float64, rates Rates) float64 {
	length := c.Typical
	if !(length > 0) {
		length = float64(n.Prompt)
	}
	price := r.memory * missing * (rates.Token + rates.Square*length) * tight(n, c, r.start)
	if n.Batch {
		price *= r.batch
	}
	return price
}

// tight is how full the turn and the sessions at home make a worker's cache: 0
// up to the share start of it, 1 where they want all of it.
func tight(n *Need, c *Candidate, start float64) float64 {
	if c.KVTokens <= 0 {
		return 0
	}
	wanted := max(c.Wanted, 0) + float64(n.Prompt)/float64(c.KVTokens)
	return min(max((wanted-start)/(1-min(start, 0.99)), 0), 1)
}

// urgency is what the backlog is divided by: a turn with priority passes some
// of those that wait, ten seconds of it half of them.
func urgency(n *Need) float64 {
	return 1 + min(max(n.Priority, 0), 100)/10
}

// or is what is set, else the default.
func or(set *float64, standard float64) float64 {
	if set == nil || math.IsNaN(*set) {
		return standard
	}
	return *set
}
