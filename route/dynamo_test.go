package route

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// recorded is a decision of Dynamo's own selector, see testdata/dynamo.md.
type recorded struct {
	Block       int         `json:"block"`
	Prompt      int         `json:"prompt"`
	Weights     [7]float64  `json:"weights"`
	Temperature float64     `json:"temperature"`
	Drawn       float64     `json:"drawn"`
	Decode      bool        `json:"decode"`
	Pin         *int        `json:"pin"`
	Workers     [][]float64 `json:"workers"`
	Picked      int         `json:"picked"`
}

// rule is the recorded one's weights.
func (r *recorded) rule() dynamo {
	w := r.Weights
	return dynamo{overlap: w[0], decay: w[1], prefill: w[2], active: w[3], host: w[4], disk: w[5], shared: w[6], temperature: r.Temperature}
}

// inputs are the recorded turn and workers as the router has them.
func (r *recorded) inputs() (Need, []Candidate) {
	n := Need{Prompt: r.Prompt}
	if r.Decode {
		n.Stage = Decoding
	}
	if r.Pin != nil {
		n.Pin = fmt.Sprint(*r.Pin)
	}
	var cs []Candidate
	for i, row := range r.Workers {
		var v [10]float64
		copy(v[:], row)
		c := Candidate{
			Worker: fmt.Sprint(i), Overlap: int(v[0]) * r.Block, Lower: [3]int{int(v[1]) * r.Block, int(v[2]) * r.Block, int(v[3]) * r.Block},
			Pending: int(v[4]), Blocks: int(v[5]), Shared: int(v[6]), InFlight: int(v[7]), BlockSize: r.Block,
			MaxBatched: math.MaxInt, Slots: math.MaxInt, Taint: v[9],
		}
		if v[8] != 0 {
			c.Out = "not allowed"
		}
		cs = append(cs, c)
	}
	return n, cs
}

// readRecorded reads the decisions of Dynamo's selector.
func readRecorded(t *testing.T) []recorded {
	f, err := os.Open("testdata/dynamo.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	for lines := bufio.NewScanner(z); lines.Scan(); {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// judge says what the rule makes of a recorded decision: the same, one of
// equal cost, or another.
func (r *recorded) judge(rule dynamo) (same, tie bool) {
	n, cs := r.inputs()
	d := rule.cost(&n, cs)
	best := rule.decide(&d, &n, r.Drawn)
	want := fmt.Sprint(r.Picked)
	for _, p := range d.Parts {
		tie = tie || p.Out == "" && p.Worker == want && p.Worker != best.Worker && p.Cost == best.Cost && r.Temperature == 0
	}
	return best.Worker == want, tie
}

// TestDynamoAgrees holds the rule against Dynamo's own selector. Of equal
// costs that one takes any, so there it is enough to have taken one of them.
func TestDynamoAgrees(t *testing.T) {
	all := readRecorded(t)
	if len(all) != 10_000 {
		t.Fatalf("%d decisions", len(all))
	}
	alike, ties, drawn := 0, 0, 0
	for i := range all {
		r := &all[i]
		same, tie := r.judge(r.rule())
		switch {
		case tie:
			ties++
		case same && r.Temperature > 0:
			drawn++
			alike++
		case same:
			alike++
		}
	}
	t.Logf("%d alike, of these %d drawn; %d of equal cost; %d others", alike, drawn, ties, len(all)-alike-ties)
	if apart := len(all) - ties; alike*1000 < apart*999 {
		t.Errorf("%d of %d agree", alike, apart)
	}
}

// TestDynamoRecordingTells shows that the recording would tell if a weight were
// read wrong: the rule with another one disagrees.
func TestDynamoRecordingTells(t *testing.T) {
	all := readRecorded(t)[:3_000]
	for name, change := range map[string]func(*dynamo){
		"overlap":     func(s *dynamo) { s.overlap += 0.2 },
		"decay":       func(s *dynamo) { s.decay += 2 },
		"prefill":     func(s *dynamo) { s.prefill *= 1.2 },
		"active":      func(s *dynamo) { s.active += 2 },
		"host":        func(s *dynamo) { s.host += 0.2 },
		"disk":        func(s *dynamo) { s.disk += 0.2 },
		"shared":      func(s *dynamo) { s.shared += 0.2 },
		"temperature": func(s *dynamo) { s.temperature *= 1.2 },
		"lmetric":     func(s *dynamo) { s.lmetric = true },
	} {
		others := 0
		for i := range all {
			rule := all[i].rule()
			change(&rule)
			if same, tie := all[i].judge(rule); !same && !tie {
				others++
			}
		}
		if others < 10 {
			t.Errorf("%s: only %d decisions would differ", name, others)
		}
	}
}

// The example of Dynamo's documentation: costs of 18, 10 and 11.
func TestDynamoExample(t *testing.T) {
	s, err := New("dynamo")
	if err != nil {
		t.Fatal(err)
	}
	n := Need{Prompt: 10 * 64}
	d := s.Pick(n, []Candidate{
		{Worker: "w1", Overlap: 2 * 64, Blocks: 10, Shared: 10, BlockSize: 64},
		{Worker: "w2", Overlap: 5 * 64, Blocks: 5, Shared: 10, BlockSize: 64},
		{Worker: "w3", Overlap: 8 * 64, Blocks: 9, Shared: 10, BlockSize: 64},
	})
	if got := fmt.Sprint(d.Worker, []any{d.Parts[0].Cost, d.Parts[1].Cost, d.Parts[2].Cost}); got != "w2[18 10 11]" {
		t.Fatal(got)
	}
	scale := 4.0
	n.Overrides.PrefillWeight = &scale
	if d := s.Pick(n, []Candidate{
		{Worker: "w2", Overlap: 5 * 64, Blocks: 5, Shared: 10, BlockSize: 64},
		{Worker: "w3", Overlap: 8 * 64, Blocks: 9, Shared: 10, BlockSize: 64},
	}); d.Worker != "w3" {
		t.Fatalf("a dear prefill went to %+v", d)
	}
}
