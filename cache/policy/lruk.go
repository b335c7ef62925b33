package policy

import "time"

// lru2 goes by the use before the last one. Runs that were used once go first,
// by that use.
func lru2(r *Run, _ time.Duration) float64 {
	if r.Uses < 2 {
		return float64(r.Turn) - once
	}
	return float64(r.Before)
}

// once is more turns than a trace has.
const once = 1e12
