package route

import (
	"math"
	"slices"
)

// Reason says why a decision is what it is.
type Reason string

// The reasons.
const (
	Cheapest  Reason = "lowest cost"
	Next      Reason = "next in turn"              // round robin
	AllFull   Reason = "every worker is full"      // no worker: wait
	TooLong   Reason = "prompt fits no worker"     // no worker, and never one
	NoWorkers Reason = "no worker can take a turn" // no worker now
	Drawn     Reason = "drawn"                     // by lot, evenly or by what they cost
	Better    Reason = "better of two drawn"       // fewer turns in flight
	AtHome    Reason = "home of the session"
	ByFile    Reason = "chosen by the file"          // a person's own rule
	Balance   Reason = "turns are uneven"            // sglang: the worker with fewest
	Longest   Reason = "longest match of the prompt" // sglang
	Emptiest  Reason = "smallest tree"               // sglang
)

// Decision is which worker takes the turn, and why. It is kept in the ledger.
type Decision struct {
	Worker  string `json:"worker"`                   // "" when there is none, see Reason
	Prefill string `json:"prefill_worker,omitempty"` // computes the prompt for Worker; "" is Worker itself
	Overlap int    `json:"overlap_tokens"`           // at the worker that computes the prompt
	Reason  Reason `json:"reason"`

	Strategy string     `json:"strategy,omitempty"` // by which name it was made
	Set      *Overrides `json:"set,omitempty"`      // knobs that were not the strategy's own

	Gate      GateMode `json:"gate,omitempty"`            // as it was set
	Threshold *float64 `json:"queue_threshold,omitempty"` // where it was not the default; below 0 it was off
	Held      *Hold    `json:"held,omitempty"`            // by the gate, before it was made

	Parts   []Part `json:"parts"`             // one for each candidate, in their order
	Warning string `json:"warning,omitempty"` // a person's own rule failed, and the default decided: why
}

// Hold is how long the gate held a turn, and why it did no longer.
type Hold struct {
	MS     float64 `json:"ms"`
	Why    string  `json:"why"`
	Let    string  `json:"let_in"`
	Forced bool    `json:"forced,omitempty"` // its time was over
}

// Wait reports whether the turn should wait for a worker that is full now.
func (d Decision) Wait() bool { return d.Reason == AllFull }

// Part is what one candidate would cost. A rule that counts in milliseconds
// says them term by term, and Cost is their sum.
type Part struct {
	Worker   string `json:"worker"`
	Overlap  int    `json:"overlap_tokens"`
	New      int    `json:"new_tokens"`
	Pending  int    `json:"pending_tokens"`
	InFlight int    `json:"in_flight"`

	PrefillMS  float64 `json:"prefill_ms,omitempty"`  // tokens to compute
	ReloadMS   float64 `json:"reload_ms,omitempty"`   // tokens to bring up from a lower tier
	BacklogMS  float64 `json:"backlog_ms,omitempty"`  // prefill already promised to this worker
	SlowdownMS float64 `json:"slowdown_ms,omitempty"` // what the running turns, and a worker far slower than others, cost this one
	StallMS    float64 `json:"stall_ms,omitempty"`    // what this one costs the running turns
	MemoryMS   float64 `json:"memory_ms,omitempty"`   // what it will take to compute again what this one displaces

	Terms []Term `json:"terms,omitempty"` // what the cost is made of, with rules that do not count in milliseconds

	Cost float64 `json:"cost"`               // lower is better
	Out  string  `json:"left_out,omitempty"` // why it was left out
}

// Term is one of the figures that a rule looked at; what it makes of them, its
// comment says.
type Term struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// term adds a figure to what a part says of its cost.
func (p *Part) term(name string, value float64) {
	p.Terms = append(p.Terms, Term{name, value})
}

// part begins the part of a candidate: what it holds and why it is out.
func part(n *Need, c *Candidate) Part {
	p := Part{Worker: c.Worker, Pending: max(c.Pending, 0), InFlight: max(c.InFlight, 0), Out: outOf(n, c)}
	p.Overlap = max(min(c.Overlap, n.Prompt), 0)
	p.New = max(n.Prompt-p.Overlap-c.lower(), 1)
	return p
}

// Survey begins a decision of a rule that lives elsewhere: a part for each
// candidate without its cost, Out being set where it must not be picked, and
// the reason that holds when all of them are out. The rule fills in costs and
// ends with Choose or Least, or leaves it when nobody is left.
func Survey(n Need, cs []Candidate) Decision { return survey(&n, cs) }

// Choose makes a part of the decision its worker.
func (d *Decision) Choose(p *Part, why Reason) { d.choose(p, why) }

// Least chooses the part that is not out and has the lowest cost; equal costs
// go to fewer turns in flight, then to an order of the turn's own.
func (d *Decision) Least(n *Need, why Reason) { d.least(n, why) }

// survey begins a decision: a part for each candidate without its cost, and
// the reason that holds when all of them are out. One that is stuck is out
// unless all are that could take the turn, now or when they have room. One
// that has much to do is out only when all have: while some worker is below
// the threshold of the queue a turn goes where its rule says.
func survey(n *Need, cs []Candidate) Decision {
	d := Decision{Parts: make([]Part, len(cs)), Reason: NoWorkers}
	works := false
	for i := range cs {
		d.Parts[i] = part(n, &cs[i])
		switch d.Parts[i].Out {
		case "", outFull:
			d.Reason = AllFull
			works = works || cs[i].Stuck == ""
		case outContext, outKV:
			if d.Reason == NoWorkers {
				d.Reason = TooLong
			}
		}
	}
	idle := false
	for i := range d.Parts {
		p := &d.Parts[i]
		if works && p.Out == "" {
			p.Out = cs[i].Stuck
		}
		idle = idle || p.Out == "" && !crowded(&cs[i])
	}
	for i := range d.Parts {
		if p := &d.Parts[i]; !idle && p.Out == "" {
			p.Out = outFull
		}
	}
	return d
}

// choose makes a part the decision.
func (d *Decision) choose(p *Part, why Reason) {
	d.Worker, d.Overlap, d.Reason = p.Worker, p.Overlap, why
}

// least chooses the part that is not out and has the lowest cost.
func (d *Decision) least(n *Need, why Reason) {
	if best := d.best(salted(n)); best != nil {
		d.choose(best, why)
	}
}

// best is the part that is not out and has the lowest cost; nil is none. Equal
// costs go to fewer turns in flight, then to an order of names that the salt
// makes.
func (d *Decision) best(salt uint64) (best *Part) {
	for i := range d.Parts {
		p := &d.Parts[i]
		if p.Out == "" && (best == nil || cheaper(p, best, salt)) {
			best = p
		}
	}
	return best
}

// How equal costs were told apart.
const (
	ByTurns = "fewer turns in flight"
	ByLot   = "lot"
)

// Tie tells which candidates cost as little as the worker of a decision by cost,
// and how it was picked among them: as best does it. by is "" where none does.
func (d *Decision) Tie() (with []string, by string) {
	at := slices.IndexFunc(d.Parts, func(p Part) bool { return p.Worker == d.Worker })
	if d.Reason != Cheapest || at < 0 {
		return nil, ""
	}
	by = ByTurns
	for i := range d.Parts {
		p := &d.Parts[i]
		if i == at || p.Out != "" || p.Cost != d.Parts[at].Cost {
			continue
		}
		if with = append(with, p.Worker); p.InFlight <= d.Parts[at].InFlight {
			by = ByLot
		}
	}
	if with == nil {
		return nil, ""
	}
	return with, by
}

// thousandth rounds milliseconds to what is worth keeping in a ledger. What is
// no number becomes the largest.
func thousandth(ms float64) float64 {
	if math.IsNaN(ms) || math.Abs(ms) > 1e15 {
		return 1e15
	}
	return math.Round(ms*1000) / 1000
}
