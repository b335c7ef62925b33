package route

import "time"

// Candidate is a worker as it is now, to the router's knowledge. Zero limits
// are unknown ones and bind nothing, but for Slots and MaxBatched, see Full.
type Candidate struct {
	Worker     string
	Out        string // why it must not be picked ("draining"); "" when it may
	Stuck      string // why any other is better ("nothing has come for 20s"); "" when it works, see Survey
	Overlap    int    // tokens of the prompt that it holds
	InFlight   int    // turns sent there and not ended
	Slots      int    // turns that it runs at once
	Pending    int    // uncached prompt tokens sent there without a first token yet
	MaxBatched int    // tokens that it computes in a step
	Bound      int    // pending tokens that make it full; 0 is DefaultThreshold steps' worth, below 0 no number does
	Context    int    // tokens of prompt and answer together
	KVTokens   int    // tokens that its KV cache holds

	Kind  Kind
	LoRA  bool    // it serves the adapter that the turn needs
	Taint float64 // how much the turn likes what the worker is marked with; below 0 it does not
	Lower [3]int  // tokens of the prompt behind Overlap, in host, disk and remote tier

	Backlog  float64 // ms of prefill sent there and not done, aged by the time since
	Decoding int     // turns that got their first token and have not ended
	Active   int     // KV tokens of the turns there
	Blocks   int     // distinct KV blocks of the turns there, of BlockSize tokens each
	Shared   int     // blocks of the prompt that are among Blocks
	// BlockSize is what Blocks are counted in; 0 is unknown, and Blocks with it.
	BlockSize int
	Free      int // KV tokens free for turns; -1 unknown, meaningless where KVTokens is 0

	Wanted  float64       // share of its KV cache that sessions at home there will want, this one left out
	Typical float64       // mean tokens of a session there
	Hot     int           // tokens of sessions at home there that have a turn or came back for one in the last minute, this one left out
	Age     time.Duration // how long a block stays unused before it is evicted; 0 unknown
	Thrash  bool          // its cache is too small for the turns that it has
	Idle    time.Duration // for how long it has had no turn; 0 while it has one
	Rates   Rates         // how fast it is; zero is unknown
	Off     float64       // its measured times over the predicted ones; 0 unknown
}

// lower is how many tokens of the prompt are in lower tiers alone.
func (c *Candidate) lower() (tokens int) {
	for _, n := range c.Lower {
		tokens += max(n, 0)
	}
	return tokens
}

// Holds is how many tokens of the prompt the worker has, in any tier.
func (c *Candidate) Holds() int { return max(c.Overlap, 0) + c.lower() }

// Kind is which stages a worker serves.
type Kind string

// The kinds.
const (
	Both         Kind = ""
	PrefillOnly  Kind = "prefill"
	DecodingOnly Kind = "decode"
)

// serves reports whether workers of the kind serve a stage.
func (k Kind) serves(s Stage) bool {
	return k == Both || k == PrefillOnly && s == Prefill || k == DecodingOnly && s == Decoding
}

// What is taken for unknown limits.
const (
	DefaultSlots      = 256
	DefaultMaxBatched = 8192
	DefaultThreshold  = 4 // steps' worth of tokens pending
)

// Full reports whether a worker has so much to do that a turn had better wait
// where its order can still change, if all are like that: as many turns in
// flight as slots, or so many uncached prompt tokens pending as its bound says.
func Full(c Candidate) bool { return taken(&c) || crowded(&c) }

// taken reports whether a worker runs as many turns as it can.
func taken(c *Candidate) bool {
	slots := c.Slots
	if slots <= 0 {
		slots = DefaultSlots
	}
	return c.InFlight >= slots
}

// crowded reports whether so many prompt tokens are pending at a worker that it
// is over the threshold of the queue. It may have the turn all the same: a
// session that is at home there waits less than it would compute elsewhere.
func crowded(c *Candidate) bool {
	batched := c.MaxBatched
	if batched <= 0 {
		batched = DefaultMaxBatched
	}
	if c.Bound != 0 {
		return c.Bound > 0 && c.Pending >= c.Bound
	}
	return c.Pending > 0 && c.Pending/DefaultThreshold >= batched
}

// Why a candidate was left out.
const (
	outFull    = "full"
	outContext = "prompt over context"
	outKV      = "prompt over kv cache"
	outPin     = "the turn is pinned to another"
	outLoRA    = "without the adapter"
	outStage   = "does not serve this part of a turn"
)

// outOf says why a candidate cannot take the turn now; "" when it can.
func outOf(n *Need, c *Candidate) string {
	switch {
	case c.Out != "":
		return c.Out
	case n.Pin != "" && n.Pin != c.Worker:
		return outPin
	case n.LoRA != "" && !c.LoRA:
		return outLoRA
	case !c.Kind.serves(n.Stage):
		return outStage
	case c.Context > 0 && n.Prompt >= c.Context:
		return outContext
	case c.KVTokens > 0 && n.Prompt >= c.KVTokens:
		return outKV
	case taken(c):
		return outFull
	}
	return ""
}
