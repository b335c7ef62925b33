package route

import "math"

// dynamo is the default selector of Dynamo's KV router, in blocks:
//
//	credit = overlap·δ·device + host·(host blocks) + disk·(disk blocks) + shared·(blocks in a shared cache beyond device)
//	δ      = 1 / (1 + decay · (active prefill blocks over the least of all) / (blocks of the prompt))
//	cost   = prefill · max(0, active prefill + prompt − credit) + decode blocks with this turn + active · turns
//
// The cost is multiplied by exp(-tanh(w)), w being how much the turn likes
// what the worker is marked with (Candidate.Taint).
//
// The least cost takes the turn. With a temperature T one is drawn instead,
// with the weights exp(-(cost - least) / (T · (most - least))). With lmetric = 1 the cost is the product of the first term,
// without its weight, and decode blocks + 1. A worker that only decodes costs
// max(0, decode blocks − credit) + active · turns, and without an overlap
// credit its decode blocks alone.
//
// It agrees with crate dynamo-kv-router 1.6.1 (DefaultWorkerSelector), see
// testdata/dynamo.md. What a block of prefill costs against one of decode is
// the weight prefill, 1 as published; in time it is some 10 to 100, which is
// why the rule moves sessions that had better stay.
type dynamo struct {
	overlap, decay, prefill, active, host, disk, shared, temperature float64
	lmetric                                                          bool
}

var dynamoKnobs = Knobs{
	"overlap": 1, "decay": 0, "prefill": 1, "active": 0, "host": 0.75, "disk": 0.25, "shared": 0,
	"temperature": 0, "lmetric": 0,
}

// mostWeight is the most that a request may ask for; beyond it, and below
// nothing, the rule's own weight stays.
const mostWeight = 1e6

func newDynamo(k Knobs) Strategy {
	return dynamo{
		overlap: k["overlap"], decay: k["decay"], prefill: k["prefill"], active: k["active"], host: k["host"], disk: k["disk"],
		shared: k["shared"], temperature: k["temperature"], lmetric: k["lmetric"] != 0,
	}
}

// Pick is of Strategy.
func (s dynamo) Pick(n Need, cs []Candidate) Decision { return s.with(n.Overrides).pick(&n, cs) }

// Blockwise is of route.Blockwise.
func (s dynamo) Blockwise() bool { return true }

// with is the rule with what a request sets for itself.
func (s dynamo) with(o Overrides) dynamo {
	for _, set := range []struct {
		to   *float64
		from *float64
	}{{&s.temperature, o.Temperature}, {&s.prefill, o.PrefillWeight}, {&s.overlap, o.OverlapCredit}} {
		if set.from != nil && *set.from >= 0 && *set.from <= mostWeight {
			*set.to = *set.from
		}
	}
	return s
}

func (s dynamo) pick(n *Need, cs []Candidate) Decision {
	d := s.cost(n, cs)
	switch p := s.decide(&d, n, unit(salted(n))); {
	case p == nil:
	case s.temperature > 0:
		d.choose(p, Drawn)
	default:
		d.choose(p, Cheapest)
	}
	return d
}

// cost is a decision with what each candidate costs.
func (s dynamo) cost(n *Need, cs []Candidate) Decision {
	d := survey(n, cs)
	block := blockOf(cs)
	least := math.MaxInt
	for i := range d.Parts {
		if d.Parts[i].Out == "" {
			least = min(least, d.Parts[i].Pending)
		}
	}
	for i := range d.Parts {
		s.price(n, &cs[i], &d.Parts[i], block, least)
	}
	return d
}

// decide finds the part that takes the turn, u being the number in [0, 1) that
// is drawn with a temperature.
func (s dynamo) decide(d *Decision, n *Need, u float64) *Part {
	if s.temperature <= 0 {
		return d.best(salted(n))
	}
	_, costs := d.open()
	return d.soft((costs.most-costs.least)*s.temperature, u)
}

// price sets the cost of one candidate; least is the least pending of all.
func (s dynamo) price(n *Need, c *Candidate, p *Part, block float64, least int) {
	prompt := float64(max(n.Prompt, 0))
	asked := math.Ceil(prompt / block)
	decay := 1.0
	if s.decay > 0 && n.Stage != Decoding {
		decay = 1 / (1 + s.decay*(float64(max(p.Pending-least, 0))/block/max(asked, 1)))
	}
	lower := func(tier int) float64 { return float64(max(c.Lower[tier], 0)) / block }
	credit := s.overlap*decay*(float64(p.Overlap)/block) + s.host*lower(0) + s.disk*lower(1) + s.shared*lower(2)
	decode := decodeBlocks(c, block) + max(asked-float64(max(c.Shared, 0)), 0)
	prefill := max((float64(p.Pending)+prompt)/block-credit, 0)
	turns := s.active * float64(p.InFlight)
	if n.Stage == Decoding {
		prefill = 0
		if s.overlap > 0 {
			decode = max(decode-credit, 0)
		}
	}
	if s.lmetric && n.Stage != Decoding {
		p.term("prefill", prefill)
		p.term("decode", decode)
		p.Cost = prefill * (decode + 1)
		return
	}
	p.term("prefill", s.prefill*prefill)
	p.term("decode", decode)
	if turns != 0 {
		p.term("turns", turns)
	}
	p.Cost = s.prefill*prefill + decode + turns
	if taint := math.Exp(-math.Tanh(c.Taint)); c.Taint != 0 && n.Pin == "" && !math.IsNaN(taint) {
		p.term("taint", taint)
		p.Cost *= taint
	}
}

// blockOf is the block that all are counted in: the largest of any worker.
func blockOf(cs []Candidate) float64 {
	most := 0
	for i := range cs {
		most = max(most, cs[i].BlockSize)
	}
	if most == 0 {
		return defaultBlock
	}
	return float64(most)
}

// defaultBlock stands where no worker says its block.
const defaultBlock = 64

// decodeBlocks are the distinct blocks of the turns that a worker has.
func decodeBlocks(c *Candidate, block float64) float64 {
	if c.BlockSize > 0 {
		return float64(max(c.Blocks, 0)) * float64(c.BlockSize) / block
	}
	return math.Ceil(float64(max(c.Active, 0)) / block)
}
