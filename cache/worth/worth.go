package worth

import "math"

// Class is what a run of blocks is to whom it belongs.
type Class uint8

// The classes, those of most worth first. The last three are worth nothing.
const (
	Shared    Class = iota // system prompt and tools, of many sessions
	History                // of a session that runs
	ToolWait               // of one that waits for a tool
	HumanWait              // of one that waits for its user
	Reasoning              // that the next prompt will not hold
	Finished               // of a session or subagent that is over
	Compacted              // the tail that a summary has replaced
)

// String is the class in a word or two.
func (c Class) String() string {
	if int(c) < len(names) {
		return names[c]
	}
	return "unknown"
}

var names = [...]string{"shared", "history", "tool wait", "human wait", "reasoning", "finished", "compacted"}

// Dead reports whether nobody comes back for runs of the class.
func (c Class) Dead() bool { return c >= Reasoning }

// Run is blocks of one prompt that lie one behind the other.
type Run struct {
	Class   Class
	Depth   int     // tokens before it
	Tokens  int     // of it
	Holders int     // sessions that have it in their prompts; 0 counts as 1
	Return  float64 // probability that one of them comes back for it in time
}

// Cost is what tokens cost at a worker, in milliseconds: computing one, the
// same for each token before it, and loading one from where it would lie
// otherwise. A zero Reload is that it lies nowhere.
type Cost struct{ PerToken, PerPair, Reload float64 }

// DefaultCost stands for a worker of which nothing is known: a dense model of
// 32 billion parameters on two H100, as route.DefaultRates.
var DefaultCost = Cost{PerToken: 0.09, PerPair: 1.5e-6}

// Recompute is what a token of the run takes to compute again, on average, less
// what it takes to load it; never below 0.
func (c Cost) Recompute(r Run) float64 {
	return max(c.PerToken+c.PerPair*(float64(max(r.Depth, 0))+float64(max(r.Tokens, 0))/2)-c.Reload, 0)
}

// Of is the milliseconds that holding the run is expected to save, for each
// token of it. Holders come back independently of each other.
func Of(r Run, c Cost) float64 {
	if r.Class.Dead() {
		return 0
	}
	p := min(max(r.Return, 0), 1)
	if math.IsNaN(p) {
		p = 0
	}
	if r.Holders > 1 {
		p = 1 - math.Pow(1-p, float64(r.Holders))
	}
	return p * c.Recompute(r)
}

// Fades is the probability that a session comes back that has been idle for so
// many seconds, where nothing better is known: of turns that wait for a tool
// most come in seconds, and what has not come in minutes seldom does.
func Fades(seconds float64) float64 { return min(1, 60/(max(seconds, 0)+30)) }
