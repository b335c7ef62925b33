package route

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawCandidates makes a fleet in any state, broken figures among them.
func drawCandidates(t *rapid.T) []Candidate {
	n := rapid.IntRange(0, 8).Draw(t, "workers")
	cs := make([]Candidate, n)
	small := func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(t, name) }
	number := func(name string) float64 {
		return rapid.OneOf(rapid.Float64Range(0, 2), rapid.SampledFrom([]float64{0, -1, 1e9, 1e300, math.NaN(), math.Inf(1)})).Draw(t, name)
	}
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
			Kind:       rapid.SampledFrom([]Kind{Both, Both, Both, PrefillOnly, DecodingOnly}).Draw(t, "kind"),
			LoRA:       rapid.Bool().Draw(t, "lora"),
			Lower:      [3]int{small("host", -5, 30_000), small("disk", 0, 30_000), small("remote", 0, 30_000)},
			Backlog:    number("backlog"),
			Decoding:   small("decoding", -1, 40),
			Active:     small("active", -1, 600_000),
			Blocks:     small("blocks", 0, 10_000),
			BlockSize:  rapid.SampledFrom([]int{0, 16, 64}).Draw(t, "block"),
			Free:       small("free", -1, 400_000),
			Wanted:     number("wanted"),
			Typical:    number("typical"),
			Age:        time.Duration(small("age", -1, 1000)) * time.Second,
			Rates:      Rates{Step: number("step"), Token: number("token"), Square: number("square"), Context: number("context")},
			Off:        number("off"),
		}
	}
	return cs
}

// drawNeed makes any turn.
func drawNeed(t *rapid.T, workers int) Need {
	n := Need{
		Turn:     rapid.StringMatching("t[0-9a-f]{4}").Draw(t, "turn"),
		Prompt:   rapid.IntRange(0, 60_000).Draw(t, "prompt"),
		Seq:      rapid.Uint64Range(0, 20).Draw(t, "seq"),
		Session:  rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "session"),
		Output:   rapid.Float64Range(0, 5_000).Draw(t, "output"),
		Priority: rapid.Float64Range(-10, 10).Draw(t, "priority"),
		Batch:    rapid.Bool().Draw(t, "batch"),
		Seed:     rapid.Uint64().Draw(t, "seed"),
		LoRA:     rapid.SampledFrom([]string{"", "", "", "sql"}).Draw(t, "lora"),
	}
	name := func(what string) string { return fmt.Sprint("w", rapid.IntRange(0, max(workers, 1)).Draw(t, what)) }
	n.Home = name("home")
	if rapid.IntRange(0, 9).Draw(t, "pinned") == 0 {
		n.Pin = name("pin")
	}
	return n
}

// TestConformance is what every rule keeps, whatever it prefers.
func TestConformance(t *testing.T) {
	for _, r := range Rules() {
		t.Run(r.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				cs := drawCandidates(t)
				n := drawNeed(t, len(cs))
				before := slices.Clone(cs)
				d := fresh(t, r).Pick(n, cs)
				if fmt.Sprint(before) != fmt.Sprint(cs) {
					t.Fatal("candidates were changed")
				}
				if !reflect.DeepEqual(d, fresh(t, r).Pick(n, cs)) {
					t.Fatal("same input, another answer")
				}
				checkDecision(t, n, cs, d)
				mixed := rapid.Permutation(cs).Draw(t, "order")
				if again := fresh(t, r).Pick(n, mixed); again.Worker != d.Worker || again.Reason != d.Reason {
					t.Fatalf("order matters: %s, %s", d.Worker, again.Worker)
				}
				if _, err := json.Marshal(d); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// fresh is a rule's strategy without a memory.
func fresh(t *rapid.T, r Rule) Strategy {
	s, err := New(r.Name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkDecision holds a decision against what may and must be.
func checkDecision(t *rapid.T, n Need, cs []Candidate, d Decision) {
	open, full, some := 0, 0, 0
	for i, c := range cs {
		p := d.Parts[i]
		usable := c.Out == "" && c.Kind == Both && (n.Pin == "" || n.Pin == c.Worker) && (n.LoRA == "" || c.LoRA)
		fits := usable && (c.Context == 0 || n.Prompt < c.Context) && (c.KVTokens == 0 || n.Prompt < c.KVTokens)
		may := fits && !Full(c)
		if p.Worker != c.Worker || (p.Out == "") != may {
			t.Fatalf("part %+v of %+v", p, c)
		}
		if p.Overlap < 0 || p.Overlap > n.Prompt || p.New < 1 || math.IsNaN(p.Cost) || math.IsInf(p.Cost, 0) {
			t.Fatalf("part %+v of %+v", p, c)
		}
		if usable {
			some++
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
	case some > 0:
		want = TooLong
	default:
		want = NoWorkers
	}
	if len(d.Parts) != len(cs) || (d.Worker == "") != (open == 0) || (open == 0 && d.Reason != want) || d.Wait() != (want == AllFull) {
		t.Fatalf("%d open, %d full, %d usable: %+v", open, full, some, d)
	}
}

func TestNew(t *testing.T) {
	for text, why := range map[string]string{
		"": "", "kv": "", "round-robin": "",
		"kvv":         `strategy "kvv": known are kv, round-robin`,
		"kv:weight=2": `strategy kv: no knob "weight"; there are `,
	} {
		switch s, err := New(text); {
		case why == "" && (s == nil || err != nil):
			t.Errorf("%q: %v", text, err)
		case why != "" && (err == nil || !strings.HasPrefix(err.Error(), why)):
			t.Errorf("%q: %v", text, err)
		}
	}
	s, _ := New("")
	if got := s.Pick(Need{Prompt: 5}, []Candidate{{Worker: "a", InFlight: 1}, {Worker: "b"}}); got.Worker != "b" {
		t.Errorf("the default took %s", got.Worker)
	}
}
