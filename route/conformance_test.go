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
	small := func(name string, from, to int) int {
		return rapid.OneOf(rapid.IntRange(from, to), rapid.IntRange(from, to), rapid.SampledFrom([]int{math.MinInt, -1, 0, math.MaxInt})).Draw(t, name)
	}
	number := func(name string) float64 {
		return rapid.OneOf(rapid.Float64Range(0, 2), odd).Draw(t, name)
	}
	for i := range cs {
		cs[i] = Candidate{
			Worker:     fmt.Sprint("w", i),
			Out:        rapid.SampledFrom([]string{"", "", "", "draining"}).Draw(t, "out"),
			Stuck:      rapid.SampledFrom([]string{"", "", "", "nothing has come for 20s"}).Draw(t, "stuck"),
			Overlap:    small("overlap", -10, 60_000),
			InFlight:   small("in flight", 0, 5),
			Slots:      small("slots", 0, 5),
			Pending:    small("pending", 0, 40_000),
			MaxBatched: rapid.SampledFrom([]int{0, 2048, 8192}).Draw(t, "batched"),
			Bound:      rapid.SampledFrom([]int{0, 0, -1, 1, 10_000}).Draw(t, "bound"),
			Context:    rapid.SampledFrom([]int{0, 0, 8192, 131_072}).Draw(t, "context"),
			KVTokens:   rapid.SampledFrom([]int{0, 0, 16_384, 400_000}).Draw(t, "kv"),
			Kind:       rapid.SampledFrom([]Kind{Both, Both, Both, PrefillOnly, DecodingOnly}).Draw(t, "kind"),
			LoRA:       rapid.Bool().Draw(t, "lora"),
			Taint:      rapid.OneOf(rapid.Just(0.0), odd).Draw(t, "taint"),
			Lower:      [3]int{small("host", -5, 30_000), small("disk", 0, 30_000), small("remote", 0, 30_000)},
			Backlog:    number("backlog"),
			Decoding:   small("decoding", -1, 40),
			Active:     small("active", -1, 600_000),
			Blocks:     small("blocks", 0, 10_000),
			Shared:     small("shared", 0, 1_000),
			BlockSize:  rapid.SampledFrom([]int{0, 16, 64}).Draw(t, "block"),
			Free:       small("free", -1, 400_000),
			Wanted:     number("wanted"),
			Typical:    number("typical"),
			Age:        time.Duration(small("age", -1, 1000)),
			Rates:      Rates{Step: number("step"), Token: number("token"), Square: number("square"), Context: number("context")},
			Off:        number("off"),
		}
	}
	return cs
}

// odd are numbers that nobody should send.
var odd = rapid.SampledFrom([]float64{0, -1, 1e9, 1e300, -1e300, math.NaN(), math.Inf(1), math.Inf(-1)})

// drawNeed makes any turn.
func drawNeed(t *rapid.T, workers int) Need {
	n := Need{
		Turn:     rapid.StringMatching("t[0-9a-f]{4}").Draw(t, "turn"),
		Prompt:   rapid.OneOf(rapid.IntRange(0, 60_000), rapid.SampledFrom([]int{math.MinInt, -1, math.MaxInt})).Draw(t, "prompt"),
		Seq:      rapid.Uint64Range(0, 20).Draw(t, "seq"),
		Session:  rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "session"),
		Output:   rapid.OneOf(rapid.Float64Range(0, 5_000), odd).Draw(t, "output"),
		Priority: rapid.OneOf(rapid.Float64Range(-10, 10), odd).Draw(t, "priority"),
		Prefix:   rapid.Uint64Range(0, 3).Draw(t, "prefix"),
		Batch:    rapid.Bool().Draw(t, "batch"),
		Seed:     rapid.Uint64().Draw(t, "seed"),
		LoRA:     rapid.SampledFrom([]string{"", "", "", "sql"}).Draw(t, "lora"),
	}
	for _, to := range []**float64{&n.Overrides.Temperature, &n.Overrides.PrefillWeight, &n.Overrides.OverlapCredit} {
		if rapid.IntRange(0, 4).Draw(t, "override") == 0 {
			x := rapid.OneOf(rapid.Float64Range(0, 2), odd).Draw(t, "to")
			*to = &x
		}
	}
	name := func(what string) string { return fmt.Sprint("w", rapid.IntRange(0, max(workers, 1)).Draw(t, what)) }
	n.Home = name("home")
	if rapid.IntRange(0, 9).Draw(t, "pinned") == 0 {
		n.Pin = name("pin")
	}
	return n
}

// drawOutcomes makes what became of some turns.
func drawOutcomes(t *rapid.T) []Outcome {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Outcome {
		any := rapid.OneOf(rapid.IntRange(0, 50_000), rapid.SampledFrom([]int{math.MinInt, -1, math.MaxInt}))
		return Outcome{
			Turn: fmt.Sprint("t", rapid.IntRange(0, 3).Draw(t, "turn")), Worker: fmt.Sprint("w", rapid.IntRange(0, 3).Draw(t, "worker")),
			Prompt: any.Draw(t, "prompt"), Cached: any.Draw(t, "cached"), Output: any.Draw(t, "output"),
			TTFT: time.Duration(any.Draw(t, "ttft")), Step: time.Duration(any.Draw(t, "step")), Err: rapid.Bool().Draw(t, "err"),
		}
	}), 0, 8).Draw(t, "outcomes")
}

// TestConformance is what every rule keeps, whatever it prefers and whatever it
// has learnt.
func TestConformance(t *testing.T) {
	for _, r := range Rules() {
		t.Run(r.Name, func(t *testing.T) { Conform(t, func() (Strategy, error) { return New(r.Name) }) })
	}
}

// Conform holds a rule against what every one keeps: it gives the same answer
// to the same input, whatever the order of the candidates; it neither changes
// nor keeps what it is given; it picks only who may be picked, and somebody
// when anybody may; and its parts tell why.
func Conform(t *testing.T, fresh func() (Strategy, error)) {
	rapid.Check(t, func(t *rapid.T) {
		cs := drawCandidates(t)
		n := drawNeed(t, len(cs))
		history := drawOutcomes(t)
		s := grown(t, fresh, history)
		before := slices.Clone(cs)
		d := s.Pick(n, cs)
		if fmt.Sprint(before) != fmt.Sprint(cs) {
			t.Fatal("candidates were changed")
		}
		checkDecision(t, n, cs, d)
		checkReason(t, d)
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		mixed := rapid.Permutation(cs).Draw(t, "order")
		for i := range cs { // nothing of it was kept
			cs[i] = Candidate{Worker: "x"}
		}
		if again, _ := json.Marshal(d); string(again) != string(text) {
			t.Fatal("a decision changed behind its maker")
		}
		if again := s.Pick(n, before); !reflect.DeepEqual(d, again) {
			t.Fatalf("same input, another answer: %+v, %+v", d, again)
		}
		if again := grown(t, fresh, history).Pick(n, mixed); again.Worker != d.Worker || again.Reason != d.Reason || again.Warning != d.Warning {
			t.Fatalf("order matters: %s, %s", d.Worker, again.Worker)
		}
	})
}

// grown is a rule's strategy that decided some turns and saw what became of
// them.
func grown(t *rapid.T, fresh func() (Strategy, error), history []Outcome) Strategy {
	s, err := fresh()
	if err != nil {
		t.Fatal(err)
	}
	if l, ok := s.(Learner); ok {
		for i, o := range history {
			s.Pick(Need{Turn: o.Turn, Prompt: 1000, Seed: uint64(i)}, []Candidate{{Worker: "w0"}, {Worker: "w1"}, {Worker: "w2"}})
			l.Observe(o)
		}
		l.Forget("w2")
	}
	return s
}

// checkReason holds a decision against its own parts: who reads them must come
// to the same worker.
func checkReason(t *rapid.T, d Decision) {
	for _, p := range d.Parts {
		if d.Worker == "" || p.Out != "" {
			continue
		}
		chosen := d.Parts[slices.IndexFunc(d.Parts, func(p Part) bool { return p.Worker == d.Worker })]
		says := func(p Part, name string) bool {
			return slices.ContainsFunc(p.Terms, func(t Term) bool { return t.Name == name })
		}
		switch d.Reason {
		case Cheapest, Off, Balance, Longest, Emptiest:
			if p.Cost < chosen.Cost {
				t.Fatalf("%s costs less than %s: %+v", p.Worker, d.Worker, d)
			}
		case Better:
			if !says(chosen, "drawn") || says(p, "drawn") && p.Cost < chosen.Cost {
				t.Fatalf("%s is better than %s, or that was not drawn: %+v", p.Worker, d.Worker, d)
			}
		case AtHome:
			if !says(chosen, "home") {
				t.Fatalf("%s is no home: %+v", d.Worker, d)
			}
		case Next, Drawn, ByFile:
		default:
			t.Fatalf("reason %q of %s", d.Reason, d.Worker)
		}
		for _, term := range p.Terms {
			if math.IsNaN(term.Value) || math.IsInf(term.Value, 0) {
				t.Fatalf("term %+v of %s", term, p.Worker)
			}
		}
	}
}

// checkDecision holds a decision against what may and must be.
func checkDecision(t *rapid.T, n Need, cs []Candidate, d Decision) {
	open, full, some := 0, 0, 0
	usable := func(c Candidate) bool {
		return c.Out == "" && c.Kind == Both && (n.Pin == "" || n.Pin == c.Worker) && (n.LoRA == "" || c.LoRA)
	}
	fit := func(c Candidate) bool {
		return usable(c) && (c.Context == 0 || n.Prompt < c.Context) && (c.KVTokens == 0 || n.Prompt < c.KVTokens)
	}
	works := slices.ContainsFunc(cs, func(c Candidate) bool { return fit(c) && c.Stuck == "" })
	moves := func(c Candidate) bool { return fit(c) && (c.Stuck == "" || !works) }
	room := slices.ContainsFunc(cs, func(c Candidate) bool { return moves(c) && !Full(c) })
	for i, c := range cs {
		p := d.Parts[i]
		fits := fit(c)
		may := moves(c) && room && !taken(&c)
		if p.Worker != c.Worker || (p.Out == "") != may {
			t.Fatalf("part %+v of %+v", p, c)
		}
		if p.Overlap < 0 || p.Overlap > max(n.Prompt, 0) || p.New < 1 || math.IsNaN(p.Cost) || math.IsInf(p.Cost, 0) {
			t.Fatalf("part %+v of %+v", p, c)
		}
		if usable(c) {
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
		"": "", "kv": "", "round-robin": "", "power-of-two": "",
		"dynamo:prefill=16:temperature=0.5": "",
		"kvv":                               `strategy "kvv": known are dyn, kv, lmetric, dynamo, kv-load, sglang, sticky, thompson, p2c, least-loaded, round-robin, random`,
		":x":                                `strategy: no name stands before the colon; known are dyn, kv`,
		":":                                 `strategy: no name stands before the colon`,
		"kv:":                               `strategy kv: it has no knobs, so nothing stands behind its name`,
		"kv:weight=2":                       `strategy kv: it has no knobs`,
		"dynamo:":                           `strategy dynamo: no knob stands behind the colon; there are active, decay`,
		"dynamo:prefill=2:":                 `strategy dynamo: no knob stands behind the colon`,
		"dynamo::prefill=2":                 `strategy dynamo: no knob stands behind the colon`,
		"dynamo:prefil=2":                   `strategy dynamo: no knob "prefil"; there are active, decay`,
		"dynamo:prefill":                    `strategy dynamo: knob prefill: has no value, such as prefill=1`,
		"dynamo:prefill=":                   `strategy dynamo: knob prefill: has no value, such as prefill=1`,
		"dynamo:prefill=x":                  `strategy dynamo: knob prefill: "x" is not a number up to 1e+09`,
		"dynamo:prefill=1:prefill=2":        `strategy dynamo: knob prefill: is there twice`,
		"sglang:abs=NaN":                    `strategy sglang: knob abs: "NaN" is not a number up to 1e+09`,
		"sglang:abs=1e10":                   `strategy sglang: knob abs: "1e10" is not a number up to 1e+09`,
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
