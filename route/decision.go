package route

import "math"

// Reason says why a decision is what it is.
type Reason string

// The reasons.
const (
	Cheapest  Reason = "lowest cost"
	Next      Reason = "next in turn"              // round robin
	AllFull   Reason = "every worker is full"      // no worker: wait
	TooLong   Reason = "prompt fits no worker"     // no worker, and never one
	NoWorkers Reason = "no worker can take a turn" // no worker now
)

// Decision is which worker takes the turn, and why. It is kept in the ledger.
type Decision struct {
	Worker  string `json:"worker"`                   // "" when there is none, see Reason
	Prefill string `json:"prefill_worker,omitempty"` // computes the prompt for Worker; "" is Worker itself
	Overlap int    `json:"overlap_tokens"`           // at the worker that computes the prompt
	Reason  Reason `json:"reason"`
	Parts   []Part `json:"parts"` // one for each candidate, in their order
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
	SlowdownMS float64 `json:"slowdown_ms,omitempty"` // what the running turns cost this one
	StallMS    float64 `json:"stall_ms,omitempty"`    // what this one costs the running turns
	MemoryMS   float64 `json:"memory_ms,omitempty"`   // what it will take to compute again what this one displaces

	Cost float64 `json:"cost"`               // lower is better
	Out  string  `json:"left_out,omitempty"` // why it was left out
}

// part begins the part of a candidate: what it holds and why it is out.
func part(n *Need, c *Candidate) Part {
	p := Part{Worker: c.Worker, Pending: max(c.Pending, 0), InFlight: max(c.InFlight, 0), Out: outOf(n, c)}
	p.Overlap = min(max(c.Overlap, 0), n.Prompt)
	p.New = max(n.Prompt-p.Overlap, 1)
	return p
}

// survey begins a decision: a part for each candidate without its cost, and
// the reason that holds when all of them are out.
func survey(n *Need, cs []Candidate) Decision {
	d := Decision{Parts: make([]Part, len(cs))}
	usable, fits := false, false
	for i := range cs {
		c := &cs[i]
		d.Parts[i] = part(n, c)
		switch out := d.Parts[i].Out; out {
		case "", outFull:
			usable, fits = true, true
		case outContext, outKV:
			usable = true
		}
	}
	switch {
	case fits:
		d.Reason = AllFull
	case usable:
		d.Reason = TooLong
	default:
		d.Reason = NoWorkers
	}
	return d
}

// choose makes a part the decision.
func (d *Decision) choose(p *Part, why Reason) {
	d.Worker, d.Overlap, d.Reason = p.Worker, p.Overlap, why
}

// least chooses the part that is not out and has the lowest cost. Equal costs
// go to fewer turns in flight, then to an order of names of the turn's own.
func (d *Decision) least(n *Need, why Reason) {
	var best *Part
	salt := salted(n)
	for i := range d.Parts {
		p := &d.Parts[i]
		if p.Out == "" && (best == nil || cheaper(p, best, salt)) {
			best = p
		}
	}
	if best != nil {
		d.choose(best, why)
	}
}

// thousandth rounds milliseconds to what is worth keeping in a ledger. What is
// no number becomes the largest.
func thousandth(ms float64) float64 {
	if math.IsNaN(ms) || math.Abs(ms) > 1e15 {
		return 1e15
	}
	return math.Round(ms*1000) / 1000
}
