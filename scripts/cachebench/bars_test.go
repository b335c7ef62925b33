package main

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/replay"
)

// Every bar is of a fleet, size and row that is played, and says whether it is
// met; one without runs says so. Tokens that touches computed are taken off.
func TestBars(t *testing.T) {
	o := &options{part: 1, list: []uint64{1, 2}}
	k := &keep{runs: map[string]*replay.Result{}}
	put := func(row int, size float64, seed uint64, r replay.Result) {
		c := cell{fleets[0], rows[row], size, seed}
		r.Turns, r.Prompt = 10, 1000
		k.runs[c.key(o)] = &r
	}
	for seed := range uint64(2) {
		put(0, 0.6, seed+1, replay.Result{Hit: 0.9, TTFTMean: 1000})
		put(1, 0.6, seed+1, replay.Result{Hit: 0.92 - 0.03*float64(seed), TTFTMean: 1000, Charged: 5})
		put(3, 0.6, seed+1, replay.Result{Hit: 0.9, Leased: replay.Group{TTFTMean: 900}, Unleased: replay.Group{TTFTMean: 1300}})
	}
	var b strings.Builder
	o.table(&b, k)
	for _, want := range []string{
		"| re-touch with ends known: at least +1.2 points | F 0.6× | +0.00 points | 2 | ✗ |",
		"| re-touch with ends known: no seed below -0.6 points | F 0.6× | -1.50 points | 2 | ✗ |",
		"| re-touch, a quarter leased: leased sessions wait less for a first token | F 0.6× | 0.90 of LRU's | 2 | ✓ |",
		"| re-touch, a quarter leased: the others at most a fifth longer | F 0.6× | 1.30 of LRU's | 2 | ✗ |",
		"| gate `auto`: no seed's hit below 0.85 | F 0.6× | not played | 0 | – |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if rows[1].name != "re-touch" || rows[3].name != "re-touch, a quarter leased" {
		t.Error("the test takes its rows by number")
	}
}
