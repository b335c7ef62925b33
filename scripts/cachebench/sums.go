package main

import (
	"fmt"
	"math"

	"github.com/agentinfer/dyn/replay"
)

// sum is what the seeds of one row in one cell came to; points are of the hit
// against the row of the engine's LRU alone, seed by seed, less what touches
// computed.
type sum struct {
	n                    int
	hit, rate, wait      float64
	leased, rest         float64 // s to the first token
	kept                 float64
	points               float64
	least, most, leastHi float64 // of points, and the least hit
	touches              float64
}

// sums sums a row up over the seeds that it and LRU were played with.
func (o *options) sums(k *keep, f fleetOf, size float64, r row) (s sum, ok bool) {
	s.least, s.most, s.leastHi = math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, seed := range o.list {
		got := k.runs[(&cell{f, r, size, seed}).key(o)]
		base := k.runs[(&cell{f, rows[0], size, seed}).key(o)]
		if got == nil || base == nil || got.Turns == 0 {
			continue
		}
		s.n++
		hit := charged(got)
		points := 100 * (hit - charged(base))
		s.hit, s.rate, s.wait = s.hit+hit, s.rate+got.PerSecond, s.wait+got.TTFTMean/1000
		s.leased, s.rest, s.kept = s.leased+got.Leased.TTFTMean/1000, s.rest+got.Unleased.TTFTMean/1000, s.kept+max(got.Leased.Kept, 0)
		s.points, s.touches = s.points+points, s.touches+float64(got.Touches)
		s.least, s.most, s.leastHi = min(s.least, points), max(s.most, points), min(s.leastHi, hit)
	}
	for _, x := range []*float64{&s.hit, &s.rate, &s.wait, &s.leased, &s.rest, &s.kept, &s.points, &s.touches} {
		*x /= float64(max(s.n, 1))
	}
	return s, s.n > 0
}

// charged is the hit less what touches computed.
func charged(r *replay.Result) float64 {
	return r.Hit - float64(r.Charged)/float64(max(r.Prompt, 1))
}

// text is a cell of a table.
func (s *sum) text(base bool) string {
	if base {
		return fmt.Sprintf("**%.3f** · %.2f · %.2f", s.hit, s.rate, s.wait)
	}
	return fmt.Sprintf("%+.1f [%+.1f, %+.1f] · %.2f · %.2f", s.points, s.least, s.most, s.rate, s.wait)
}
