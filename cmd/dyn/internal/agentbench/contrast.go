package agentbench

import (
	"math"
	"math/rand/v2"
	"slices"
)

// MinPairs is how many pairs of sessions an interval needs to be worth a
// verdict.
const MinPairs = 6

// Pair is one session of a round under two strategies.
type Pair struct {
	A, B  Tally
	Round int
}

// Contrast is what changes from strategy B to A, and between which bounds it
// lies with a confidence of 95 %. Low and High are NaN where there are less than
// two pairs, all are where there is nothing to compare.
type Contrast struct{ Diff, Low, High float64 }

// Clear reports that the interval lies on one side of zero.
func (c Contrast) Clear() bool { return c.Low > 0 || c.High < 0 }

// Measure is a figure of two arms that can be compared.
type Measure struct {
	Name string
	Of   func(a, b *Tally) float64 // NaN where there is nothing to compare
}

// Measures are those that are compared: the change of the mean time to the first
// token, as a share; of the hit, in share points; of the tokens that a turn
// computes again.
var Measures = []Measure{
	{"ttft", func(a, b *Tally) float64 {
		if a.Turns == 0 || b.Turns == 0 || b.TTFT == 0 {
			return math.NaN()
		}
		return a.Mean()/b.Mean() - 1
	}},
	{"hit", func(a, b *Tally) float64 {
		if a.Prompt == 0 || b.Prompt == 0 {
			return math.NaN()
		}
		return a.Hit() - b.Hit()
	}},
	{"recomputed", func(a, b *Tally) float64 {
		if a.Told == 0 || b.Told == 0 {
			return math.NaN()
		}
		return a.PerTurn() - b.PerTurn()
	}},
}

// resamples is how often pairs are drawn anew.
const resamples = 2000

// Compare is the contrast of a measure over pairs of sessions. The same pairs
// and seed give the same contrast.
func Compare(m Measure, pairs []Pair, seed uint64) Contrast {
	c := Contrast{over(m, pairs, func(i int) int { return i }), math.NaN(), math.NaN()}
	n := len(pairs)
	if n < 2 || math.IsNaN(c.Diff) {
		return c
	}
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	drawn := make([]float64, 0, resamples)
	for range resamples {
		if x := over(m, pairs, func(int) int { return r.IntN(n) }); !math.IsNaN(x) {
			drawn = append(drawn, x)
		}
	}
	if len(drawn) == 0 {
		return c
	}
	slices.Sort(drawn)
	tail := tailOf(n)
	at := func(q float64) float64 { return drawn[int(q*float64(len(drawn)-1)+0.5)] }
	c.Low, c.High = at(tail), at(1-tail)
	return c
}

// over is the measure over n pairs, each picked by a function.
func over(m Measure, pairs []Pair, pick func(int) int) float64 {
	var a, b Tally
	for i := range pairs {
		p := &pairs[pick(i)]
		a.plus(&p.A)
		b.plus(&p.B)
	}
	return m.Of(&a, &b)
}

// tailOf is the quantile at which an interval of 95 % ends that was drawn from n
// pairs. Plain percentiles are too narrow for few: they take the normal
// distribution for Student's, and the spread of a sample for that of what it was
// drawn from. This is Hesterberg's expanded percentile (What Teachers Should Know
// about the Bootstrap, arXiv 1411.5279).
func tailOf(n int) float64 {
	t := student(float64(n - 1))
	return math.Erfc(t*math.Sqrt(float64(n)/float64(n-1))/math.Sqrt2) / 2
}

// student is the 97.5 % quantile of Student's distribution, by the expansion of
// Cornish and Fisher; below three degrees, where that is of no use, as tabled.
func student(degrees float64) float64 {
	switch {
	case degrees <= 1:
		return 12.706
	case degrees <= 2:
		return 4.303
	}
	const z = 1.959964
	v := degrees
	z3, z5, z7 := math.Pow(z, 3), math.Pow(z, 5), math.Pow(z, 7)
	return z + (z3+z)/(4*v) + (5*z5+16*z3+3*z)/(96*v*v) + (3*z7+19*z5+17*z3-15*z)/(384*v*v*v)
}
