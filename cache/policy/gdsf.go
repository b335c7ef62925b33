package policy

import "time"

// gdsf is greedy dual size frequency. Size and cost of a run are its tokens and
// what it takes to compute them, so a token of it is worth its uses times the
// cost of a token there.
type gdsf struct {
	clock float64
	worth map[int]float64 // by run, with the clock of its last use
}

func newGDSF(int) Policy { return &gdsf{worth: map[int]float64{}} }

// Used renews what a run is worth.
func (g *gdsf) Used(r *Run) { g.worth[r.ID] = g.clock + float64(r.Uses)*perToken(r) }

// Victim is the leaf worth least, which the clock follows.
func (g *gdsf) Victim(leaves []*Run, now time.Duration) *Run {
	r := scored(func(r *Run, _ time.Duration) float64 { return g.worth[r.ID] }).Victim(leaves, now)
	g.clock = max(g.clock, g.worth[r.ID])
	return r
}

// Gone forgets a run.
func (g *gdsf) Gone(r *Run) { delete(g.worth, r.ID) }

// perToken is how many ms it takes to compute a token of a run again, of a model
// of 32 billion parameters on two H100 (docs/routing.md).
func perToken(r *Run) float64 { return 0.09 + 1.5e-6*(float64(r.Depth)+float64(r.Tokens)/2) }
