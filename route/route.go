package route

// Need is what a turn asks of a worker.
type Need struct {
	Turn   string // id; breaks ties
	Prompt int    // tokens
	Seq    uint64 // turns decided before this one, for round robin
}

// Candidate is a worker as the server sees it now. Zero limits are unknown
// ones and bind nothing, but for Slots and MaxBatched, see Full.
type Candidate struct {
	Worker     string
	Out        string // why it must not be picked ("draining"); "" when it may
	Overlap    int    // tokens of the prompt that it holds
	InFlight   int    // turns sent there and not ended
	Slots      int    // turns that it runs at once
	Pending    int    // uncached prompt tokens sent there without a first token yet
	MaxBatched int    // tokens that it computes in a step
	Context    int    // tokens of prompt and answer together
	KVTokens   int    // tokens that its KV cache holds
}

// What is taken for unknown limits.
const (
	DefaultSlots      = 256
	DefaultMaxBatched = 8192
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
)

// Why a candidate was left out.
const (
	outFull    = "full"
	outContext = "prompt over context"
	outKV      = "prompt over kv cache"
)

// Decision is which worker takes the turn, and why. It is kept in the ledger.
type Decision struct {
	Worker  string `json:"worker"`         // "" when there is none, see Reason
	Overlap int    `json:"overlap_tokens"` // at Worker
	Reason  Reason `json:"reason"`
	Parts   []Part `json:"parts"` // one for each candidate, in their order
}

// Wait reports whether the turn should wait for a worker that is full now.
func (d Decision) Wait() bool { return d.Reason == AllFull }

// Part is what one candidate would cost.
type Part struct {
	Worker   string `json:"worker"`
	Overlap  int    `json:"overlap_tokens"`
	New      int    `json:"new_tokens"`
	Pending  int    `json:"pending_tokens"`
	InFlight int    `json:"in_flight"`
	Cost     int    `json:"cost"`               // (pending + new) × (in flight + 1)
	Out      string `json:"left_out,omitempty"` // why it was left out
}

// Full reports whether a worker has so much to do that a turn had better wait
// where its order can still change: as many turns in flight as slots, or four
// steps' worth of uncached prompt tokens pending.
func Full(c Candidate) bool {
	slots, batched := c.Slots, c.MaxBatched
	if slots <= 0 {
		slots = DefaultSlots
	}
	if batched <= 0 {
		batched = DefaultMaxBatched
	}
	return c.InFlight >= slots || (c.Pending > 0 && c.Pending >= 4*batched)
}

// outOf says why a candidate cannot take the turn now; "" when it can.
func outOf(n Need, c Candidate) string {
	switch {
	case c.Out != "":
		return c.Out
	case c.Context > 0 && n.Prompt+1 > c.Context:
		return outContext
	case c.KVTokens > 0 && n.Prompt+1 > c.KVTokens:
		return outKV
	case Full(c):
		return outFull
	}
	return ""
}

// price fills the part of one candidate.
func price(n Need, c Candidate) Part {
	p := Part{Worker: c.Worker, Pending: max(c.Pending, 0), InFlight: max(c.InFlight, 0)}
	p.Overlap = min(max(c.Overlap, 0), n.Prompt)
	p.New = max(n.Prompt-p.Overlap, 1)
	p.Cost = (p.Pending + p.New) * (p.InFlight + 1)
	p.Out = outOf(n, c)
	return p
}

// priceAll prices every candidate; what is left to decide is among the parts
// that are not out.
func priceAll(n Need, cs []Candidate) Decision {
	d := Decision{Parts: make([]Part, len(cs))}
	usable, fits := false, false
	for i, c := range cs {
		d.Parts[i] = price(n, c)
		usable = usable || c.Out == ""
		fits = fits || d.Parts[i].Out == outFull
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
func (d *Decision) choose(p Part, why Reason) {
	d.Worker, d.Overlap, d.Reason = p.Worker, p.Overlap, why
}
