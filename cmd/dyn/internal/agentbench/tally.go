package agentbench

import (
	"slices"
	"time"
)

// Tally sums turns. The zero value is none.
type Tally struct {
	Turns      int // with a first token
	Failed     int
	TTFT       time.Duration // of all together
	Prompt     int           // of turns whose cached tokens are known
	Cached     int
	Recomputed int
	Told       int // turns whose cached tokens are known

	ttfts []time.Duration
}

// Add takes a turn.
func (y *Tally) Add(t Turn) {
	if t.Err != nil || t.TTFT < 0 {
		y.Failed++
		return
	}
	y.Turns++
	y.TTFT += t.TTFT
	y.ttfts = append(y.ttfts, t.TTFT)
	if t.Cached >= 0 {
		y.Told++
		y.Prompt += t.Prompt
		y.Cached += t.Cached
		y.Recomputed += t.Recomputed()
	}
}

// plus takes the turns of another tally, but for what only quantiles need.
func (y *Tally) plus(o *Tally) {
	y.Turns += o.Turns
	y.Failed += o.Failed
	y.TTFT += o.TTFT
	y.Prompt += o.Prompt
	y.Cached += o.Cached
	y.Recomputed += o.Recomputed
	y.Told += o.Told
}

// Mean is the mean time to the first token, in milliseconds; -1 without turns.
func (y *Tally) Mean() float64 {
	if y.Turns == 0 {
		return -1
	}
	return ms(y.TTFT) / float64(y.Turns)
}

// Quantile is a quantile of it, q from 0 to 1; -1 without turns.
func (y *Tally) Quantile(q float64) float64 {
	if len(y.ttfts) == 0 {
		return -1
	}
	sorted := slices.Sorted(slices.Values(y.ttfts))
	return ms(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)])
}

// Hit is the share of prompt tokens that were cached; -1 where no engine told.
func (y *Tally) Hit() float64 {
	if y.Prompt == 0 {
		return -1
	}
	return float64(y.Cached) / float64(y.Prompt)
}

// PerTurn is how many tokens a turn computed again; -1 where no engine told.
func (y *Tally) PerTurn() float64 {
	if y.Told == 0 {
		return -1
	}
	return float64(y.Recomputed) / float64(y.Told)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Sum is the tally of turns.
func Sum(turns []Turn) Tally {
	var y Tally
	for _, t := range turns {
		y.Add(t)
	}
	return y
}

// Sessions are the tallies of a round, one for each of n sessions.
func Sessions(n int, turns []Turn) []Tally {
	list := make([]Tally, n)
	for _, t := range turns {
		list[t.Session].Add(t)
	}
	return list
}
