package pause

import (
	"math"
	"time"
)

// The histogram's steps: each a quarter longer than the one before.
const (
	bins    = 64
	shortly = 5 * time.Millisecond // what is shorter lies in the first
	ratio   = 1.25
	halves  = 2000 // pauses after which an old one counts half
)

var (
	stepLog   = math.Log(ratio)
	fade      = math.Exp2(-1.0 / halves)
	shortlyMS = float64(shortly) / float64(time.Millisecond)
)

// spread is how long pauses were. The zero value has none. What never ended lies
// behind the last step.
type spread struct {
	N     float64       `json:"n"` // of all, each counting less with time
	Bins  [bins]float64 `json:"bins"`
	Never float64       `json:"never"`
}

// at is where on the steps a time lies: 0 to bins.
func at(d time.Duration) float64 {
	ms := float64(d) / float64(time.Millisecond)
	if !(ms > shortlyMS) {
		return max(ms, 0) / shortlyMS
	}
	return min(1+math.Log(ms/shortlyMS)/stepLog, bins)
}

// until is the time at a place on the steps; the other way of at.
func until(place float64) time.Duration {
	if place < 1 {
		return time.Duration(max(place, 0) * float64(shortly))
	}
	return time.Duration(float64(shortly) * math.Exp((min(place, bins)-1)*stepLog))
}

// add takes a pause in; below 0 it never ended.
func (s *spread) add(d time.Duration) {
	s.N = s.N*fade + 1
	for i := range s.Bins {
		s.Bins[i] *= fade
	}
	s.Never *= fade
	if d < 0 || at(d) >= bins {
		s.Never++
		return
	}
	s.Bins[int(at(d))]++
}

// beyond is the share of pauses that had not ended at a place on the steps.
func (s *spread) beyond(place float64) float64 {
	if s.N <= 0 {
		return 1
	}
	whole := int(place)
	left := s.Never
	for i := whole + 1; i < bins; i++ {
		left += s.Bins[i]
	}
	if whole < bins {
		left += s.Bins[whole] * (1 - (place - float64(whole)))
	}
	return left / s.N
}
