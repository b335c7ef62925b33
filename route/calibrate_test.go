package route

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// drive sends turns one after another through books to an engine with true
// rates, whose times are a little noisy, and returns what the books make of it.
func drive(t *testing.T, told, really Rates, turns int) (*Books, Candidate) {
	t.Helper()
	b := NewBooks(0)
	b.Worker("w", Limits{KVTokens: 10_000_000, Rates: told})
	rng := rand.New(rand.NewPCG(1, 2))
	now := epoch
	for i := range turns {
		there := rng.IntN(100_000)
		fresh := 100 + rng.IntN(8_000)
		n := Need{Turn: fmt.Sprint(i), Prompt: there + fresh, Session: fmt.Sprint("s", i%10)}
		noise := func() float64 { return 0.9 + 0.2*rng.Float64() }
		b.Sent(now, Sending{Need: &n, Worker: "w", Overlap: there})
		ms := (really.Prefill(float64(fresh), float64(there)) + really.Decode(0, 0)) * noise()
		now = now.Add(time.Duration(ms * float64(time.Millisecond)))
		b.First(now, n.Turn)
		out := 20 + rng.IntN(400)
		step := really.Decode(1, float64(n.Prompt+out/2)) * noise()
		now = now.Add(time.Duration(step * float64(out-1) * float64(time.Millisecond)))
		b.Ended(now, Outcome{Turn: n.Turn, Worker: "w", Prompt: n.Prompt, Cached: there, Output: out})
		now = now.Add(time.Second)
	}
	c := Candidate{Worker: "w"}
	b.Fill(now, &Need{}, &c)
	return b, c
}

// Constants that start three times off, in whichever direction, become those
// of the engine.
func TestRatesConverge(t *testing.T) {
	told := DefaultRates
	for _, f := range [][3]float64{{1, 1, 1}, {3, 3, 3}, {1. / 3, 1. / 3, 1. / 3}, {3, 1. / 3, 1}, {1. / 3, 3, 3}, {10, 10, 10}} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			really := told
			really.Token, really.Square, really.Context, really.Step = told.Token*f[0], told.Square*f[1], told.Context*f[2], told.Step*f[2]
			_, c := drive(t, told, really, 120)
			for _, w := range [][2]float64{{500, 90_000}, {4_000, 20_000}, {8_000, 60_000}} {
				got, want := c.Rates.Prefill(w[0], w[1]), really.Prefill(w[0], w[1])
				if r := got / want; r < 0.75 || r > 1.33 {
					t.Errorf("prefill of %v behind %v: %.1f ms, is %.1f", w[0], w[1], got, want)
				}
			}
			for _, ctx := range []float64{20_000, 200_000} {
				got, want := c.Rates.Decode(1, ctx), really.Decode(1, ctx)
				if r := got / want; r < 0.75 || r > 1.33 {
					t.Errorf("step with %v: %.2f ms, is %.2f", ctx, got, want)
				}
			}
			if c.Off < 0.8 || c.Off > 1.25 {
				t.Errorf("off by %v after it converged", c.Off)
			}
		})
	}
}

// An engine that is suddenly ten times slower is seen to be off, then known.
func TestSlowWorkerIsSeen(t *testing.T) {
	var f fit
	for range 50 {
		f.learn(100, 10, 110)
	}
	if off := f.offBy(); math.Abs(off-1) > 0.01 {
		t.Fatalf("off by %v at first", off)
	}
	worst := 0.0
	for range 60 {
		f.learn(100, 10, 1100)
		worst = max(worst, f.offBy())
	}
	x, y := f.factors()
	if got := 100*x + 10*y; worst < 3 || math.Abs(got-1100) > 120 || f.offBy() > 1.5 {
		t.Fatalf("off by %v at most and %v at last; says %v", worst, f.offBy(), got)
	}
}

// What the engine says of cached tokens counts, not what was believed.
func TestWrongBeliefTeachesNothingWrong(t *testing.T) {
	b := NewBooks(0)
	b.Worker("w", Limits{Rates: Rates{Step: 1, Token: 0.1, Context: 1e-6}})
	now := epoch
	for i := range 30 {
		n := Need{Turn: fmt.Sprint(i), Prompt: 10_000}
		b.Sent(now, Sending{Need: &n, Worker: "w", Overlap: 9_900}) // it has nothing
		now = now.Add(1001 * time.Millisecond)
		b.First(now, n.Turn)
		b.Ended(now, Outcome{Turn: n.Turn, Cached: 0, Output: 1})
	}
	c := Candidate{Worker: "w"}
	b.Fill(now, &Need{}, &c)
	if c.Rates.Token < 0.09 || c.Rates.Token > 0.11 {
		t.Fatalf("%v ms a token", c.Rates.Token)
	}
}

func TestNothingIsLearntOfFailures(t *testing.T) {
	b := NewBooks(0)
	b.Worker("w", Limits{})
	for i := range 30 {
		n := Need{Turn: fmt.Sprint(i), Prompt: 10_000}
		b.Sent(epoch, Sending{Need: &n, Worker: "w"})
		b.First(epoch.Add(time.Hour), n.Turn)
		b.Ended(epoch.Add(2*time.Hour), Outcome{Turn: n.Turn, Output: 50, Err: true})
	}
	c := Candidate{Worker: "w"}
	if b.Fill(epoch, &Need{}, &c); c.Rates != DefaultRates || c.Off != 0 {
		t.Fatalf("%+v", c)
	}
}

// The fit takes anything without becoming no number.
func FuzzFit(f *testing.F) {
	f.Add(1.0, 1.0, 1.0, 0.0, 5.0, 1e300)
	f.Fuzz(func(t *testing.T, x, y, m, x2, y2, m2 float64) {
		var fit fit
		for range 5 {
			fit.learn(x, y, m)
			fit.learn(x2, y2, m2)
		}
		if a, b := fit.factors(); math.IsNaN(a) || math.IsNaN(b) || a < 0 || b < 0 || math.IsInf(a, 0) || math.IsInf(b, 0) {
			t.Fatalf("%v, %v", a, b)
		}
	})
}

// Prompts that are computed in one step have their first tokens at once: that
// is one measurement, of all of them.
func TestOneStepIsOneSample(t *testing.T) {
	b := NewBooks(0)
	b.Worker("w", Limits{KVTokens: 1_000_000, Rates: Rates{Step: 1, Token: 0.1, Context: 1e-6}})
	now := epoch
	for i := range 40 {
		for k := range 4 {
			n := Need{Turn: fmt.Sprint(i, "/", k), Prompt: 500}
			b.Sent(now, Sending{Need: &n, Worker: "w"})
		}
		now = now.Add(201 * time.Millisecond) // four times 50, and the step
		for k := range 4 {
			b.First(now, fmt.Sprint(i, "/", k))
			now = now.Add(200 * time.Microsecond)
		}
		for k := range 4 {
			b.Ended(now, Outcome{Turn: fmt.Sprint(i, "/", k), Cached: 0, Output: 1})
		}
		now = now.Add(time.Second)
	}
	c := Candidate{Worker: "w"}
	b.Fill(now, &Need{}, &c)
	if c.Rates.Token < 0.09 || c.Rates.Token > 0.11 || c.Off < 0.9 || c.Off > 1.1 {
		t.Fatalf("%v ms a token, off by %v", c.Rates.Token, c.Off)
	}
}

// Turns that wait for room in the KV cache, or lose theirs, take longer than
// their worker computes: that makes no prediction wrong. With room again it is
// measured as ever.
func TestCrampedWorkerIsNotOff(t *testing.T) {
	b := NewBooks(0)
	b.Worker("w", Limits{KVTokens: 100_000, Rates: Rates{Step: 1, Token: 0.1, Context: 1e-6}})
	now := epoch
	serve := func(id string, turns int, slow time.Duration) {
		for k := range turns {
			n := Need{Turn: fmt.Sprint(id, "/", k), Prompt: 40_000}
			b.Sent(now, Sending{Need: &n, Worker: "w"})
		}
		for k := range turns {
			now = now.Add(4001*time.Millisecond + slow)
			b.First(now, fmt.Sprint(id, "/", k))
		}
		now = now.Add(99*(time.Millisecond+slow/100) + time.Second)
		for k := range turns {
			b.Ended(now, Outcome{Turn: fmt.Sprint(id, "/", k), Cached: 0, Output: 100})
		}
		now = now.Add(time.Second)
	}
	look := func() (c Candidate) {
		c.Worker = "w"
		b.Fill(now, &Need{}, &c)
		return c
	}
	for i := range 20 {
		serve(fmt.Sprint("cramped ", i), 3, 30*time.Second)
	}
	if c := look(); c.Off != 0 || c.Rates.Token != 0.1 {
		t.Fatalf("%v ms a token, off by %v", c.Rates.Token, c.Off)
	}
	for i := range 20 {
		serve(fmt.Sprint("roomy ", i), 1, 12*time.Second)
	}
	if c := look(); c.Rates.Token < 0.35 || c.Rates.Token > 0.45 {
		t.Fatalf("%v ms a token, off by %v", c.Rates.Token, c.Off)
	}
}

// Of an engine that is far from what is taken for granted, such as one without
// a GPU, enough is known after a few turns.
func TestFarRatesAreFoundSoon(t *testing.T) {
	for _, f := range []float64{0.05, 0.1, 10, 30} {
		really := DefaultRates
		really.Token, really.Square, really.Context, really.Step = f*really.Token, f*really.Square, f*really.Context, f*really.Step
		_, c := drive(t, Rates{}, really, 20)
		if got, want := c.Rates.Prefill(4_000, 20_000), really.Prefill(4_000, 20_000); got/want < 0.6 || got/want > 1.6 {
			t.Errorf("%v times: %.1f ms for a prefill that takes %.1f", f, got, want)
		}
		if c.Off < 0.5 || c.Off > 2 {
			t.Errorf("%v times: off by %v after twenty turns", f, c.Off)
		}
	}
}
