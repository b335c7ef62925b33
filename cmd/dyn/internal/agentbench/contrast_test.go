package agentbench

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestStudent(t *testing.T) {
	for degrees, want := range map[float64]float64{1: 12.706, 2: 4.303, 3: 3.182, 5: 2.571, 10: 2.228, 30: 2.042, 1000: 1.962} {
		if got := student(degrees); math.Abs(got/want-1) > 0.01 {
			t.Errorf("%g degrees: %.3f, want %.3f", degrees, got, want)
		}
	}
}

// pairsOf draws pairs of sessions of six turns; the times of A are B's, times
// a factor, but for noise of either.
func pairsOf(r *rand.Rand, n int, factor float64) []Pair {
	pairs := make([]Pair, n)
	for i := range pairs {
		slow := 200 * math.Exp(r.NormFloat64()/2) // a session is long or short for both
		for range 6 {
			draw := func(f float64) Turn {
				return Turn{TTFT: time.Duration(slow * f * math.Exp(r.NormFloat64()/3) * 1e6), Prompt: 8000, Cached: 6000 + r.IntN(1500), Known: 7500}
			}
			pairs[i].A.Add(draw(factor))
			pairs[i].B.Add(draw(1))
		}
	}
	return pairs
}

// TestCompareIsHonest: of arms that are the same, about one in twenty is taken
// for different, with few pairs and with many; and a difference that there is is
// inside its interval as often.
func TestCompareIsHonest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ttft := Measures[0]
	for _, n := range []int{MinPairs, 15} {
		wrong, outside := 0, 0
		const times = 50
		for i := range times {
			if Compare(ttft, pairsOf(r, n, 1), uint64(i)).Clear() {
				wrong++
			}
			if c := Compare(ttft, pairsOf(r, n, 0.7), uint64(i)); c.Low > -0.3 || c.High < -0.3 {
				outside++
			}
		}
		if wrong > times/8 || outside > times/8 {
			t.Errorf("%d pairs: of %d that are the same %d are taken for different, and %d differences are outside", n, times, wrong, outside)
		}
	}
}

// TestCompare: what is plain is seen, in its direction, and again the same.
func TestCompare(t *testing.T) {
	pairs := pairsOf(rand.New(rand.NewPCG(3, 4)), 30, 0.5)
	c := Compare(Measures[0], pairs, 7)
	if !c.Clear() || c.High >= 0 || c.Low > c.Diff || c.Diff > c.High || math.Abs(c.Diff+0.5) > 0.1 {
		t.Errorf("half the time is %+v", c)
	}
	if again := Compare(Measures[0], pairs, 7); again != c {
		t.Errorf("again it is %+v, not %+v", again, c)
	}
	for _, m := range Measures {
		same := make([]Pair, len(pairs))
		for i := range pairs {
			same[i] = Pair{A: pairs[i].A, B: pairs[i].A}
		}
		if c := Compare(m, same, 7); c != (Contrast{}) || c.Clear() {
			t.Errorf("%s of one arm and itself: %+v", m.Name, c)
		}
		if c := Compare(m, pairs[:1], 7); math.IsNaN(c.Diff) || !math.IsNaN(c.Low) || c.Clear() {
			t.Errorf("%s of one pair: %+v", m.Name, c)
		}
		if c := Compare(m, nil, 7); !math.IsNaN(c.Diff) || c.Clear() {
			t.Errorf("%s of nothing: %+v", m.Name, c)
		}
	}
}
