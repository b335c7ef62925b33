package route

import (
	"math"
	"testing"
)

// TestKnownRates: rates that are no numbers are none, so that a choice does not
// hang on who is asked about first.
func TestKnownRates(t *testing.T) {
	some := Rates{Step: 3, Token: 0.1}
	if some.known() != some {
		t.Error("rates are not what they are")
	}
	for name, r := range map[string]Rates{
		"none":     {},
		"NaN":      {Step: math.NaN(), Token: 1},
		"infinite": {Step: 3, Token: 1, Reload: [3]float64{0, math.Inf(1), 0}},
		"opposite": {Step: math.Inf(1), Token: 1, Square: math.Inf(-1)},
	} {
		if r.known() != DefaultRates {
			t.Errorf("%s: %+v", name, r.known())
		}
	}
}

// TestOrderOfNoNumbers: the worker that was asked about first had no say.
func TestOrderOfNoNumbers(t *testing.T) {
	a := Candidate{Worker: "a", Slots: 8, KVTokens: 1 << 20, Rates: Rates{Step: math.NaN(), Token: 1}}
	b := Candidate{Worker: "b", Slots: 8, KVTokens: 1 << 20, Rates: Rates{Step: 1000, Token: 1}}
	c := Candidate{Worker: "c", Slots: 8, KVTokens: 1 << 20, Rates: Rates{Step: 3, Token: 1}}
	s, err := New("dyn")
	if err != nil {
		t.Fatal(err)
	}
	n := Need{Turn: "t", Prompt: 1000, Output: 500}
	want := s.Pick(n, []Candidate{a, b, c}).Worker
	for _, cs := range [][]Candidate{{a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a}} {
		if got := s.Pick(n, cs).Worker; got != want {
			t.Errorf("%s first: %s, want %s", cs[0].Worker, got, want)
		}
	}
}
