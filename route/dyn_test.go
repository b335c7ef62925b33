package route

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// plain is a worker whose terms can be worked out by hand.
func plain(name string) Candidate {
	return Candidate{Worker: name, KVTokens: 1_000_000, Free: -1, Rates: Rates{Step: 10, Token: 0.1, Context: 1e-5, Reload: [3]float64{0.01, 0.05, 0.1}}}
}

func TestDynTerms(t *testing.T) {
	need := Need{Turn: "t", Prompt: 10_000, Output: 400}
	for _, c := range []struct {
		name string
		n    func(*Need)
		c    func(*Candidate)
		want Part
	}{
		{"nothing there", nil, nil, Part{PrefillMS: 1000, SlowdownMS: 40}},
		{"what is there is not computed", nil, func(c *Candidate) { c.Overlap = 9_000 }, Part{PrefillMS: 100, SlowdownMS: 40}},
		{"one token always is", nil, func(c *Candidate) { c.Overlap = 10_000 }, Part{PrefillMS: 0.1, SlowdownMS: 40}},
		{"attention", nil, func(c *Candidate) { c.Overlap, c.Rates.Square = 8_000, 1e-5 }, Part{PrefillMS: 200 + 180, SlowdownMS: 40}},
		{"lower tiers are reloaded", nil, func(c *Candidate) { c.Overlap, c.Lower = 4_000, [3]int{3_000, 2_000, 0} }, Part{PrefillMS: 100, ReloadMS: 30 + 100, SlowdownMS: 40}},
		{"no more of them than is missing", nil, func(c *Candidate) { c.Lower = [3]int{20_000, 20_000, 0} }, Part{PrefillMS: 0.1, ReloadMS: 99.99, SlowdownMS: 40}},
		{"what waits there", nil, func(c *Candidate) { c.Backlog = 700 }, Part{PrefillMS: 1000, BacklogMS: 700, SlowdownMS: 40}},
		{"priority passes some of it", func(n *Need) { n.Priority = 10 }, func(c *Candidate) { c.Backlog = 700 }, Part{PrefillMS: 1000, BacklogMS: 350, SlowdownMS: 40}},
		{"what runs there", nil, func(c *Candidate) { c.Decoding, c.Active = 4, 240_000 }, Part{PrefillMS: 1000, StallMS: 2000, SlowdownMS: 1000}},
		{"sequences cost too", nil, func(c *Candidate) { c.Decoding, c.Rates.Seq = 1, 0.5 }, Part{PrefillMS: 1000, StallMS: 500, SlowdownMS: 40 + 400}},
		{"room is free at first", nil, func(c *Candidate) { c.Wanted = 0.49 }, Part{PrefillMS: 1000, SlowdownMS: 40}},
		{"then it has a price", nil, func(c *Candidate) { c.Wanted = 0.74 }, Part{PrefillMS: 1000, SlowdownMS: 40, MemoryMS: 4000}},
		{"the most of it", nil, func(c *Candidate) { c.Wanted = 3 }, Part{PrefillMS: 1000, SlowdownMS: 40, MemoryMS: 8000}},
		{"for what is missing alone", nil, func(c *Candidate) { c.Wanted, c.Overlap = 3, 9_000 }, Part{PrefillMS: 100, SlowdownMS: 40, MemoryMS: 800}},
		{"twice for batch", func(n *Need) { n.Batch = true }, func(c *Candidate) { c.Wanted = 0.74 }, Part{PrefillMS: 1000, SlowdownMS: 40, MemoryMS: 8000}},
		{"by how long sessions are", nil, func(c *Candidate) { c.Wanted, c.Typical, c.Rates.Square, c.Overlap = 3, 50_000, 2e-6, 9_999 }, Part{PrefillMS: 0.12, SlowdownMS: 40, MemoryMS: 1.6}},
		{"another's prompt", func(n *Need) { n.Stage = Decoding }, func(c *Candidate) { c.Backlog, c.Decoding, c.Overlap = 700, 3, 9_000 }, Part{SlowdownMS: 40}},
		{"another's answer", func(n *Need) { n.Stage = Prefill }, func(c *Candidate) { c.Backlog = 700 }, Part{PrefillMS: 1000, BacklogMS: 700}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, w := need, plain("a")
			if c.n != nil {
				c.n(&n)
			}
			if c.c != nil {
				c.c(&w)
			}
			s, _ := New("dyn")
			got := s.Pick(n, []Candidate{w}).Parts[0]
			sum := got.PrefillMS + got.ReloadMS + got.BacklogMS + got.SlowdownMS + got.StallMS + got.MemoryMS
			if math.Abs(got.Cost-sum) > 0.002 {
				t.Errorf("cost %v is not the sum %v", got.Cost, sum)
			}
			for _, v := range []struct {
				what      string
				got, want float64
			}{
				{"prefill", got.PrefillMS, c.want.PrefillMS},
				{"reload", got.ReloadMS, c.want.ReloadMS},
				{"backlog", got.BacklogMS, c.want.BacklogMS},
				{"slowdown", got.SlowdownMS, c.want.SlowdownMS},
				{"stall", got.StallMS, c.want.StallMS},
				{"memory", got.MemoryMS, c.want.MemoryMS},
			} {
				if math.Abs(v.got-v.want) > 0.002 {
					t.Errorf("%s %v ms, want %v", v.what, v.got, v.want)
				}
			}
		})
	}
}

func TestDynPicks(t *testing.T) {
	long := Need{Turn: "t", Prompt: 100_000, Output: 400}
	for _, c := range []struct {
		name string
		n    Need
		a, b func(*Candidate)
		want string
		why  Reason
	}{
		{"home with company beats an idle stranger", long, func(c *Candidate) { c.Overlap, c.Decoding, c.Active, c.InFlight = 99_000, 4, 400_000, 4 }, nil, "a", Cheapest},
		{"but not with a queue longer than the prompt", long, func(c *Candidate) { c.Overlap, c.Backlog = 99_000, 20_000 }, nil, "b", Cheapest},
		{"idle sessions are seen", Need{Turn: "t", Prompt: 50_000}, func(c *Candidate) { c.Wanted = 0.9 }, func(c *Candidate) { c.Wanted, c.Backlog = 0.1, 500 }, "b", Cheapest},
		{"home on a worker ten times slower is none", long, func(c *Candidate) { c.Overlap, c.Rates.Step, c.Rates.Token = 99_000, 100, 1 }, nil, "b", Cheapest},
		{"though it is not for a short answer", Need{Turn: "t", Prompt: 100_000, Output: 20}, func(c *Candidate) { c.Overlap, c.Rates.Step, c.Rates.Token = 99_000, 100, 1 }, nil, "a", Cheapest},
		{"workers of a kind differ by what is measured", Need{Turn: "t", Prompt: 100_000, Output: 4000}, func(c *Candidate) { c.Overlap, c.Rates.Step = 99_000, 19 }, nil, "a", Cheapest},
		{"one that it may not go to is no measure", long, func(c *Candidate) { c.Overlap, c.Rates.Step = 99_000, 100 }, func(c *Candidate) { c.Out = "down" }, "a", Cheapest},
		{"predictions that are off", Need{Turn: "t", Prompt: 50_000}, func(c *Candidate) { c.Off, c.Backlog = 3.5, 1e6 }, func(c *Candidate) { c.InFlight = 1 }, "a", Off},
		{"off the other way", Need{Turn: "t", Prompt: 50_000}, func(c *Candidate) { c.Off, c.Backlog = 0.2, 1e6 }, func(c *Candidate) { c.InFlight = 1 }, "a", Off},
		{"off where it may not go matters not", Need{Turn: "t", Prompt: 50_000}, func(c *Candidate) { c.Backlog = 1e4 }, func(c *Candidate) { c.Off, c.Out = 9, "down" }, "a", Cheapest},
		{"a little off is no matter", Need{Turn: "t", Prompt: 50_000}, func(c *Candidate) { c.Off, c.Backlog = 2.5, 1e6 }, func(c *Candidate) { c.InFlight = 1 }, "b", Cheapest},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := plain("a"), plain("b")
			c.a(&a)
			if c.b != nil {
				c.b(&b)
			}
			s, _ := New("dyn")
			if d := s.Pick(c.n, []Candidate{a, b}); d.Worker != c.want || d.Reason != c.why {
				t.Fatalf("%s, %q: %+v", d.Worker, d.Reason, d.Parts)
			}
		})
	}
}

// More of anything bad never makes a worker cheaper, more overlap never dearer.
func TestDynIsMonotone(t *testing.T) {
	s, _ := New("dyn")
	rapid.Check(t, func(t *rapid.T) {
		c := plain("a")
		n := Need{Prompt: rapid.IntRange(1, 200_000).Draw(t, "prompt"), Output: rapid.Float64Range(0, 2000).Draw(t, "output")}
		c.Overlap = rapid.IntRange(0, n.Prompt-1).Draw(t, "overlap")
		c.Wanted = rapid.Float64Range(0, 2).Draw(t, "wanted")
		c.Decoding = rapid.IntRange(0, 50).Draw(t, "decoding")
		c.Rates.Square = rapid.Float64Range(0, 1e-5).Draw(t, "square")
		cost := func(c Candidate) float64 { return s.Pick(n, []Candidate{c}).Parts[0].Cost }
		base := cost(c)
		for what, worse := range map[string]func(*Candidate){
			"backlog":  func(c *Candidate) { c.Backlog += 5 },
			"decoding": func(c *Candidate) { c.Decoding++ },
			"active":   func(c *Candidate) { c.Active += 1000 },
			"wanted":   func(c *Candidate) { c.Wanted += 0.1 },
			"overlap":  func(c *Candidate) { c.Overlap = max(c.Overlap-1000, 0) },
		} {
			w := c
			worse(&w)
			if got := cost(w); got < base-0.01 {
				t.Fatalf("worse %s: %v after %v", what, got, base)
			}
		}
	})
}

func TestSplitTakesTwo(t *testing.T) {
	p1, p2, d1, d2 := plain("p1"), plain("p2"), plain("d1"), plain("d2")
	p1.Kind, p2.Kind, d1.Kind, d2.Kind = PrefillOnly, PrefillOnly, DecodingOnly, DecodingOnly
	p1.Backlog, p2.Overlap, d1.Active = 900, 6_000, 500_000
	n := Need{Turn: "t", Prompt: 10_000, Output: 400}
	s, _ := New("dyn")
	d := Place(s, n, []Candidate{p1, p2, d1, d2})
	if d.Worker != "d2" || d.Prefill != "p2" || d.Overlap != 6_000 || d.Parts[1].PrefillMS != 400 || d.Parts[3].SlowdownMS == 0 {
		t.Fatalf("%+v", d)
	}
	p1.Out, p2.Out = "down", "down"
	if d := Place(s, n, []Candidate{p1, p2, d1, d2}); d.Worker != "" || d.Reason != NoWorkers {
		t.Fatalf("without prefill workers: %+v", d)
	}
	whole := plain("w")
	whole.InFlight = 3
	if d := Place(s, n, []Candidate{p1, p2, d1, whole}); d.Worker != "w" && d.Prefill != "w" {
		t.Fatalf("one that serves both: %+v", d)
	}
}

func TestTemperatureDraws(t *testing.T) {
	a, b := plain("a"), plain("b")
	b.Backlog = 500
	s, _ := New("dyn:temperature=1")
	got := map[string]int{}
	for i := range 2000 {
		got[s.Pick(Need{Turn: fmt.Sprint("t", i), Prompt: 1000}, []Candidate{a, b}).Worker]++
	}
	if want := 2000 / (1 + math.E); math.Abs(float64(got["b"])-want) > 90 {
		t.Fatalf("%v, want about %.0f of b", got, want)
	}
	cold := 0.0
	if d := s.Pick(Need{Turn: "t", Prompt: 1000, Overrides: Overrides{Temperature: &cold}}, []Candidate{a, b}); d.Worker != "a" || d.Reason != Cheapest {
		t.Fatalf("overridden: %+v", d)
	}
}

func many(n int) []Candidate {
	cs := make([]Candidate, n)
	for i := range cs {
		cs[i] = plain(fmt.Sprint("w", i))
		cs[i].Overlap, cs[i].Decoding, cs[i].Active, cs[i].Wanted = i*100, i%5, i*10_000, float64(i)/float64(n)
	}
	return cs
}

func TestDynAllocatesOnce(t *testing.T) {
	cs, s := many(64), newDyn(dynKnobs)
	n := Need{Turn: "t0123456789abcdef", Prompt: 50_000, Output: 400}
	if got := testing.AllocsPerRun(100, func() { s.Pick(n, cs) }); got > 1 {
		t.Fatalf("%v allocations", got)
	}
}

func BenchmarkDyn(b *testing.B) {
	for _, workers := range []int{8, 64} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			cs, s := many(workers), newDyn(dynKnobs)
			n := Need{Turn: "t0123456789abcdef", Prompt: 50_000, Output: 400}
			b.ReportAllocs()
			for b.Loop() {
				s.Pick(n, cs)
			}
		})
	}
}

// What is not known of a worker's steps, or is no number, is no measure of
// others, in whatever order they stand.
func TestQuickest(t *testing.T) {
	step := func(ms float64) Candidate { return Candidate{Rates: Rates{Step: ms, Token: 1}} }
	for _, cs := range [][]Candidate{{step(0), step(5), step(math.NaN()), step(7)}, {step(math.NaN()), step(7), step(5), step(0)}, {step(5), step(-1), step(0)}} {
		d := Decision{Parts: make([]Part, len(cs))}
		if got := quickest(&d, cs); got != 5 {
			t.Errorf("of %v the quickest step takes %v ms, want 5", cs, got)
		}
	}
}
