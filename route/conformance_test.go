package route

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawCandidates makes a fleet in any state, broken figures among them.
func drawCandidates(t *rapid.T) []Candidate {
	n := rapid.IntRange(0, 8).Draw(t, "workers")
	cs := make([]Candidate, n)
	small := func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(t, name) }
	for i := range cs {
		cs[i] = Candidate{
			Worker:     fmt.Sprint("w", i),
			Out:        rapid.SampledFrom([]string{"", "", "", "draining"}).Draw(t, "out"),
			Overlap:    small("overlap", -10, 60_000),
			InFlight:   small("in flight", 0, 5),
			Slots:      small("slots", 0, 5),
			Pending:    small("pending", 0, 40_000),
			MaxBatched: rapid.SampledFrom([]int{0, 2048, 8192}).Draw(t, "batched"),
			Context:    rapid.SampledFrom([]int{0, 0, 8192, 131_072}).Draw(t, "context"),
			KVTokens:   rapid.SampledFrom([]int{0, 0, 16_384, 400_000}).Draw(t, "kv"),
		}
	}
	return cs
}

// TestConformance is what every policy keeps, whatever it prefers.
func TestConformance(t *testing.T) {
	for _, p := range Policies() {
		t.Run(string(p), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				cs := drawCandidates(t)
				n := Need{
					Turn:   rapid.StringMatching("t[0-9a-f]{4}").Draw(t, "turn"),
					Prompt: rapid.IntRange(0, 60_000).Draw(t, "prompt"),
					Seq:    rapid.Uint64Range(0, 20).Draw(t, "seq"),
				}
				before := slices.Clone(cs)
				d := p.Pick(n, cs)
				if !slices.Equal(before, cs) {
					t.Fatal("candidates were changed")
				}
				if !reflect.DeepEqual(d, p.Pick(n, cs)) {
					t.Fatal("same input, another answer")
				}
				checkDecision(t, n, cs, d)
				mixed := rapid.Permutation(cs).Draw(t, "order")
				if again := p.Pick(n, mixed); again.Worker != d.Worker || again.Reason != d.Reason {
					t.Fatalf("order matters: %s, %s", d.Worker, again.Worker)
				}
			})
		})
	}
}

// checkDecision holds a decision against what may and must be.
func checkDecision(t *rapid.T, n Need, cs []Candidate, d Decision) {
	open, full, usable := 0, 0, 0
	for i, c := range cs {
		p := d.Parts[i]
		fits := c.Out == "" && (c.Context == 0 || n.Prompt < c.Context) && (c.KVTokens == 0 || n.Prompt < c.KVTokens)
		may := fits && !Full(c)
		if p.Worker != c.Worker || (p.Out == "") != may {
			t.Fatalf("part %+v of %+v", p, c)
		}
		if p.Overlap < 0 || p.Overlap > n.Prompt || p.New < 1 || p.Cost < 1 {
			t.Fatalf("part %+v of %+v", p, c)
		}
		if c.Out == "" {
			usable++
		}
		if may {
			open++
		} else if fits {
			full++
		}
		if d.Worker == c.Worker && (!may || d.Overlap != p.Overlap) {
			t.Fatalf("picked %+v: %+v", c, d)
		}
	}
	want := Reason("")
	switch {
	case open > 0:
	case full > 0:
		want = AllFull
	case usable > 0:
		want = TooLong
	default:
		want = NoWorkers
	}
	if len(d.Parts) != len(cs) || (d.Worker == "") != (open == 0) || (open == 0 && d.Reason != want) || d.Wait() != (want == AllFull) {
		t.Fatalf("%d open, %d full, %d usable: %+v", open, full, usable, d)
	}
}

func TestParsePolicy(t *testing.T) {
	for name, want := range map[string]Policy{"": KV, "kv": KV, "round-robin": RoundRobin, "random": ""} {
		if got, err := ParsePolicy(name); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	cs := []Candidate{{Worker: "a", InFlight: 1}, {Worker: "b"}}
	if got := Policy("").Pick(Need{Prompt: 5}, cs); got.Worker != "b" {
		t.Errorf("the zero policy took %s", got.Worker)
	}
}
