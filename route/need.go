package route

// Need is what a turn asks of a worker. The zero value of a field is what is
// not known, and binds nothing.
type Need struct {
	Turn   string // id; breaks ties
	Prompt int    // tokens
	Seq    uint64 // turns decided before this one, for round robin

	Session string  // who asks; a subagent is a session of its own
	Parent  string  // the session that a subagent works for
	Home    string  // the worker of the session's last turn
	Pin     string  // the only worker that may take it
	LoRA    string  // the adapter that it needs
	Prefix  uint64  // hash of what sessions share: system prompt and tools
	Output  float64 // tokens that its answer is expected to have

	Priority  float64 // seconds by which it goes before others
	Batch     bool    // nobody waits for it
	Seed      uint64  // of rules that draw lots: same seed, same choice
	Stage     Stage   // of a turn that two workers share
	Overrides Overrides
}

// Stage is which part of a turn is placed.
type Stage uint8

// The stages.
const (
	Whole    Stage = iota // prompt and answer
	Prefill               // the prompt alone
	Decoding              // the answer, from a prompt that another worker computed
)

// Overrides are the knobs that a request sets for itself; nil leaves what the
// rule has. A rule without such a knob ignores it.
type Overrides struct {
	Temperature   *float64 `json:"temperature,omitempty"`    // 0 takes the best, more draws among the good ones
	PrefillWeight *float64 `json:"prefill_weight,omitempty"` // of prompt tokens that have to be computed
	OverlapCredit *float64 `json:"overlap_credit,omitempty"` // share of the overlap that counts
}
