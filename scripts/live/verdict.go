package main

import (
	"fmt"
	"math"
)

// The bars.
const (
	busyMost  = 0.60 // of all cores
	offMost   = 0.15 // of replay's hit
	apartFrom = 0.10 // of the larger hit: strategies that are nearer have no order
	lostMost  = 0.02 // of turns
)

// row is a strategy, by run.
type row struct {
	strategy     string
	live, replay []side
	busy         []float64
}

// hit is the mean of hits.
func hit(sides []side) float64 {
	sum := 0.0
	for _, s := range sides {
		sum += s.hit()
	}
	return sum / float64(len(sides))
}

// off is how far the live hit is from replay's, as a share of that.
func (r *row) off() float64 { return hit(r.live)/hit(r.replay) - 1 }

// verdict is what all runs say together.
type verdict struct {
	unclear string   // why nothing can be said
	wrong   []string // what is not as it should be
	pairs   int      // whose order was compared
}

// judge compares the sides of all strategies.
func judge(rows []row) (v verdict) {
	most := 0.0
	for _, r := range rows {
		for _, b := range r.busy {
			most = max(most, b)
		}
		turns, failed := 0, 0
		var why error
		for _, s := range r.live {
			turns, failed = turns+s.turns, failed+s.failed
			if s.why != nil {
				why = s.why
			}
		}
		switch off := r.off(); {
		case turns == 0:
			v.wrong = append(v.wrong, fmt.Sprintf("%s: no turn was counted: %v", r.strategy, why))
		case float64(failed) > lostMost*float64(turns+failed):
			v.wrong = append(v.wrong, fmt.Sprintf("%s: %d of %d turns failed, such as: %v", r.strategy, failed, turns+failed, why))
		case !(math.Abs(off) <= offMost):
			v.wrong = append(v.wrong, fmt.Sprintf("%s: hit %.3f, in replay %.3f: %+.0f %%", r.strategy, hit(r.live), hit(r.replay), 100*off))
		}
	}
	for i := range rows {
		for j := range rows {
			a, b := &rows[i], &rows[j]
			if high, low := hit(a.replay), hit(b.replay); high-low <= apartFrom*high {
				continue
			}
			if v.pairs++; hit(a.live) <= hit(b.live) {
				v.wrong = append(v.wrong, fmt.Sprintf("%s has a hit of %.3f and %s of %.3f; replay has it the other way, %.3f and %.3f",
					a.strategy, hit(a.live), b.strategy, hit(b.live), hit(a.replay), hit(b.replay)))
			}
		}
	}
	if most > busyMost {
		v.unclear = fmt.Sprintf("the machine was up to %.0f %% busy, %.0f are the most", 100*most, 100*busyMost)
	}
	return v
}

// said is the verdict in words.
func (v verdict) said() string {
	switch {
	case v.unclear != "":
		return "INCONCLUSIVE: " + v.unclear
	case len(v.wrong) > 0:
		text := "FAILED"
		for i, w := range v.wrong {
			text += map[bool]string{true: ": ", false: "; "}[i == 0] + w
		}
		return text
	}
	return fmt.Sprintf("ok: every hit within %.0f %% of replay's, and the order of all %d pairs that are more than %.0f %% apart", 100*offMost, v.pairs, 100*apartFrom)
}
