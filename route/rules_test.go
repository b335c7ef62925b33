package route

import (
	"fmt"
	"testing"
)

// pick asks a rule by its text.
func pick(t *testing.T, text string, n Need, cs ...Candidate) Decision {
	t.Helper()
	s, err := New(text)
	if err != nil {
		t.Fatal(err)
	}
	return s.Pick(n, cs)
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		n          Need
		cs         []Candidate
		want       string
		why        Reason
	}{
		{"lmetric does not see the prefill that waits", "lmetric", Need{Prompt: 5_000}, []Candidate{
			{Worker: "a", Overlap: 4_000, Pending: 9_000}, {Worker: "b"},
		}, "a", Cheapest},
		{"least-loaded does not see the overlap", "least-loaded", Need{Prompt: 5_000}, []Candidate{
			{Worker: "a", Overlap: 4_000, InFlight: 1}, {Worker: "b"},
		}, "b", Cheapest},
		{"kv-load: a hit of a few tokens counts in full", "kv-load", Need{Prompt: 90_000}, []Candidate{
			{Worker: "a", Overlap: 64, InFlight: 2, Decoding: 2}, {Worker: "b"},
		}, "a", Cheapest},
		{"kv-load: a full cache and a queue outweigh it", "kv-load", Need{Prompt: 90_000}, []Candidate{
			{Worker: "a", Overlap: 64, InFlight: 3, KVTokens: 100_000, Active: 90_000}, {Worker: "b", KVTokens: 100_000},
		}, "b", Cheapest},
		{"kv-load: the host tier counts for 0.8", "kv-load:kv=0:queue=0", Need{Prompt: 2_000}, []Candidate{
			{Worker: "a", Overlap: 850}, {Worker: "b", Overlap: 100, Lower: [3]int{900}},
		}, "a", Cheapest},
		{"sglang: the longest match", "sglang", Need{Prompt: 1_000}, []Candidate{
			{Worker: "a", Overlap: 301, InFlight: 64}, {Worker: "b"},
		}, "a", Longest},
		{"sglang: no match to speak of", "sglang", Need{Prompt: 1_000}, []Candidate{
			{Worker: "a", Overlap: 300, Pending: 10}, {Worker: "b", InFlight: 9},
		}, "b", Emptiest},
		{"sglang: turns are uneven", "sglang", Need{Prompt: 1_000}, []Candidate{
			{Worker: "a", Overlap: 900, InFlight: 165}, {Worker: "b", InFlight: 100},
		}, "b", Balance},
		{"sglang: uneven, but not by half", "sglang", Need{Prompt: 1_000}, []Candidate{
			{Worker: "a", Overlap: 900, InFlight: 210}, {Worker: "b", InFlight: 140},
		}, "a", Longest},
		{"sticky: stays", "sticky", Need{Prompt: 1_000, Session: "s", Home: "a"}, []Candidate{
			{Worker: "a", InFlight: 50, Pending: 20_000}, {Worker: "b"},
		}, "a", AtHome},
		{"sticky: unless told otherwise", "sticky:override=1.5", Need{Prompt: 1_000, Session: "s", Home: "a"}, []Candidate{
			{Worker: "a", Active: 70_000, Pending: 20_000}, {Worker: "b", Active: 10_000},
		}, "b", Cheapest},
		{"sticky: not so much over the mean", "sticky:override=2", Need{Prompt: 1_000, Session: "s", Home: "a"}, []Candidate{
			{Worker: "a", Active: 70_000, Pending: 20_000}, {Worker: "b", Active: 10_000},
		}, "a", AtHome},
		{"sglang: of equal matches always the same one", "sglang", Need{Prompt: 1_000, Prefix: 1}, []Candidate{
			{Worker: "a", Overlap: 900, InFlight: 1}, {Worker: "b", Overlap: 900, InFlight: 60},
		}, "b", Longest},
		{"dynamo: what waits for its prefill", "dynamo", Need{Prompt: 640}, []Candidate{
			{Worker: "a", Overlap: 640, Pending: 1_280}, {Worker: "b"},
		}, "b", Cheapest},
		{"dynamo: lmetric's product", "dynamo:lmetric=1", Need{Prompt: 640}, []Candidate{
			{Worker: "a", Overlap: 576, Blocks: 80, BlockSize: 64}, {Worker: "b", Pending: 64, BlockSize: 64},
		}, "a", Cheapest},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := pick(t, c.rule, c.n, c.cs...); d.Worker != c.want || d.Reason != c.why {
				t.Fatalf("got %q, %q; want %q, %q: %+v", d.Worker, d.Reason, c.want, c.why, d.Parts)
			}
		})
	}
}

// A session's first turn goes where its name says, every time; sessions are
// spread, and when a worker goes, only its own move.
func TestStickySpreads(t *testing.T) {
	all := []Candidate{{Worker: "w1"}, {Worker: "w2"}, {Worker: "w3"}}
	got := map[string]int{}
	for i := range 3000 {
		n := Need{Turn: fmt.Sprint("t", i), Prompt: 10, Session: fmt.Sprint("s", i)}
		first := pick(t, "sticky", n, all...).Worker
		got[first]++
		n.Turn = "another"
		if pick(t, "sticky", n, all...).Worker != first {
			t.Fatal("a session moved")
		}
		if left := pick(t, "sticky", n, all[:2]...).Worker; first != "w3" && left != first {
			t.Fatal("a session moved when another's worker went")
		}
	}
	for _, c := range all {
		if n := got[c.Worker]; n < 850 || n > 1150 {
			t.Fatalf("%v", got)
		}
	}
}

// Lots fall evenly, and two of three are looked at.
func TestLots(t *testing.T) {
	all := []Candidate{{Worker: "w1"}, {Worker: "w2"}, {Worker: "w3", InFlight: 1}}
	random, two := map[string]int{}, map[string]int{}
	for i := range 3000 {
		n := Need{Turn: fmt.Sprint("t", i), Prompt: 10, Seed: 7}
		random[pick(t, "random", n, all...).Worker]++
		two[pick(t, "p2c", n, all...).Worker]++
	}
	for _, c := range all {
		if n := random[c.Worker]; n < 850 || n > 1150 {
			t.Fatalf("random: %v", random)
		}
	}
	if two["w3"] > 0 || two["w1"] < 1300 || two["w2"] < 1300 {
		t.Fatalf("p2c: %v", two)
	}
	n := Need{Turn: "t", Prompt: 10, Seed: 7}
	first, moved := pick(t, "random", n, all...).Worker, false
	for n.Seed = range uint64(20) {
		moved = moved || pick(t, "random", n, all...).Worker != first
	}
	if !moved {
		t.Fatal("the seed decides nothing")
	}
}

// A tree grows by what was computed, and is gone with its worker.
func TestSGLangTree(t *testing.T) {
	s, err := New("sglang")
	if err != nil {
		t.Fatal(err)
	}
	n, cs := Need{Prompt: 1_000}, []Candidate{{Worker: "a"}, {Worker: "b"}}
	s.(Learner).Observe(Outcome{Worker: "a", Prompt: 5_000, Cached: 4_000})
	s.(Learner).Observe(Outcome{Worker: "b", Prompt: 1_500})
	if d := s.Pick(n, cs); d.Worker != "a" || d.Reason != Emptiest {
		t.Fatalf("%+v", d)
	}
	s.(Learner).Forget("b")
	if d := s.Pick(n, cs); d.Worker != "b" {
		t.Fatalf("%+v", d)
	}
}

// What a decision over eight workers costs, by rule.
func BenchmarkRules(b *testing.B) {
	cs := make([]Candidate, 8)
	for i := range cs {
		cs[i] = Candidate{Worker: fmt.Sprint("w", i), Overlap: i * 640, InFlight: i, Blocks: 100 * i, BlockSize: 64, Active: 6_400 * i, KVTokens: 400_000}
	}
	n := Need{Turn: "t0123456789abcdef", Prompt: 50_000, Session: "s1", Home: "w3"}
	for _, r := range Rules() {
		b.Run(r.Name, func(b *testing.B) {
			s, err := New(r.Name)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Pick(n, cs)
			}
		})
	}
}
