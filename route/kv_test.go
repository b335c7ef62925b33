package route

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestPick(t *testing.T) {
	for _, c := range []struct {
		name string
		n    Need
		cs   []Candidate
		want string
		why  Reason
	}{
		{"follows the overlap", Need{Prompt: 10_000}, []Candidate{
			{Worker: "a"},
			{Worker: "b", Overlap: 9_000, InFlight: 3},
		}, "b", Cheapest},
		{"leaves a crowd for a short prompt", Need{Prompt: 600}, []Candidate{
			{Worker: "a"},
			{Worker: "b", Overlap: 400, InFlight: 3},
		}, "a", Cheapest},
		{"sees the prefill that waits", Need{Prompt: 5_000}, []Candidate{
			{Worker: "a", Overlap: 1_000, Pending: 8_000, InFlight: 1},
			{Worker: "b"},
		}, "b", Cheapest},
		{"an engine computes one token at least", Need{Prompt: 100}, []Candidate{
			{Worker: "a", Overlap: 100, InFlight: 4},
			{Worker: "b", Overlap: 100, InFlight: 1},
		}, "b", Cheapest},
		{"equal costs: least in flight", Need{Prompt: 100}, []Candidate{
			{Worker: "a", Overlap: 50, InFlight: 1},
			{Worker: "b"},
		}, "b", Cheapest},
		{"too small for the prompt, ever", Need{Prompt: 1_000}, []Candidate{
			{Worker: "a", Context: 1_000},
			{Worker: "b", Context: 1_001, InFlight: 200},
		}, "b", Cheapest},
		{"all full: wait", Need{Prompt: 10}, []Candidate{
			{Worker: "a", InFlight: 2, Slots: 2},
			{Worker: "b", InFlight: 256},
			{Worker: "c", Pending: 32_768, InFlight: 1},
			{Worker: "d", Pending: 8_192, MaxBatched: 2_048},
			{Worker: "e", Context: 5},
		}, "", AllFull},
		{"much to do does not drive a session from home", Need{Prompt: 50_000}, []Candidate{
			{Worker: "a", Overlap: 49_990, Pending: 40_000, InFlight: 1},
			{Worker: "b", InFlight: 2},
		}, "a", Cheapest},
		{"fits nowhere", Need{Prompt: 1_000}, []Candidate{
			{Worker: "a", Context: 500},
			{Worker: "b", KVTokens: 1_000, InFlight: 300},
			{Worker: "c", Out: "down"},
		}, "", TooLong},
		{"nobody there", Need{Prompt: 10}, []Candidate{{Worker: "c", Out: "down"}}, "", NoWorkers},
		{"nobody at all", Need{Prompt: 10}, nil, "", NoWorkers},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Pick(c.n, c.cs)
			if d.Worker != c.want || d.Reason != c.why {
				t.Fatalf("got %q, %q; want %q, %q: %+v", d.Worker, d.Reason, c.want, c.why, d.Parts)
			}
		})
	}
}

func TestFull(t *testing.T) {
	for _, c := range []struct {
		c    Candidate
		want bool
	}{
		{Candidate{}, false},
		{Candidate{InFlight: 255}, false},
		{Candidate{InFlight: 256}, true},
		{Candidate{InFlight: 3, Slots: 4}, false},
		{Candidate{InFlight: 4, Slots: 4}, true},
		{Candidate{Pending: 32_767}, false},
		{Candidate{Pending: 32_768}, true},
		{Candidate{Pending: 4_000, MaxBatched: 1_000}, true},
	} {
		if got := Full(c.c); got != c.want {
			t.Errorf("%+v: %v", c.c, got)
		}
	}
}

// Equal workers share equal turns, and no name is ahead.
func TestTiesRotate(t *testing.T) {
	cs := []Candidate{{Worker: "w1"}, {Worker: "w2"}, {Worker: "w3"}}
	got := map[string]int{}
	for i := range 3000 {
		got[Pick(Need{Turn: fmt.Sprintf("t%016x", i), Prompt: 10}, cs).Worker]++
	}
	for _, c := range cs {
		if n := got[c.Worker]; n < 900 || n > 1100 {
			t.Fatalf("%v", got)
		}
	}
}

func TestRoundRobin(t *testing.T) {
	cs := []Candidate{{Worker: "b"}, {Worker: "c"}, {Worker: "x", Out: "down"}, {Worker: "a", Overlap: 5}}
	got := ""
	for seq := range uint64(7) {
		d := pickNext(Need{Prompt: 10, Seq: seq}, cs)
		got += d.Worker
		if d.Reason != Next || len(d.Parts) != 4 {
			t.Fatalf("%+v", d)
		}
	}
	if got != "abcabca" {
		t.Fatalf("order %s", got)
	}
}

// The ledger keeps decisions: their JSON is a contract.
func TestDecisionJSON(t *testing.T) {
	d := Pick(Need{Prompt: 100}, []Candidate{
		{Worker: "w1", Overlap: 64, InFlight: 1, Pending: 10},
		{Worker: "w2", InFlight: 256},
	})
	got, err := json.Marshal(d)
	want := `{"worker":"w1","overlap_tokens":64,"reason":"lowest cost","parts":[` +
		`{"worker":"w1","overlap_tokens":64,"new_tokens":36,"pending_tokens":10,"in_flight":1,"cost":92},` +
		`{"worker":"w2","overlap_tokens":0,"new_tokens":100,"pending_tokens":0,"in_flight":256,"cost":25700,"left_out":"full"}]}`
	if err != nil || string(got) != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func TestPickAllocatesOnce(t *testing.T) {
	cs := make([]Candidate, 8)
	for i := range cs {
		cs[i] = Candidate{Worker: fmt.Sprint("w", i), Overlap: i * 100}
	}
	n := Need{Turn: "t0123456789abcdef", Prompt: 5_000}
	if got := testing.AllocsPerRun(100, func() { Pick(n, cs) }); got > 1 {
		t.Fatalf("%v allocations", got)
	}
}

func BenchmarkPick(b *testing.B) {
	cs := make([]Candidate, 8)
	for i := range cs {
		cs[i] = Candidate{Worker: fmt.Sprint("w", i), Overlap: i * 100, InFlight: i}
	}
	n := Need{Turn: "t0123456789abcdef", Prompt: 5_000}
	b.ReportAllocs()
	for b.Loop() {
		Pick(n, cs)
	}
}
