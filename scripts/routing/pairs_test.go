package main

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/route"
)

// A rule whose every seed is behind is marked, one that is now ahead and now
// behind is as good; rows apart are not among the rules.
func TestPairs(t *testing.T) {
	o := &options{seeds: 3, kv: 1_000_000, off: 3}
	k := &keep{trace: "t", runs: map[string]*replay.Result{}}
	c := cell{sessions: 96, workers: 8}
	best := []string{"dyn", "lmetric", "random"}
	for i, x := range []float64{0.99, 1.01, 1} {
		for _, r := range []struct {
			row        row
			rate, wait float64
		}{
			{row{rule: "dyn"}, 3, 1000},
			{row{rule: "lmetric"}, 3 * x, 1000 / x},
			{row{rule: "random"}, 1.5 * x, 4000 * x},
			{row{rule: "dyn", gate: route.Auto}, 2, 9000},
			{row{rule: "dyn", oracle: true}, 4, 500},
			{row{rule: "dyn", late: true}, 2.9, 1100},
			{row{rule: theirs}, 2.5 * x, 4000},
		} {
			k.runs[k.key(o.config(r.row, o.unseen(i), c))] = &replay.Result{Strategy: r.row.rule, Turns: 9, PerSecond: r.rate, TTFTMean: r.wait}
		}
	}
	text := o.page(k, []cell{c}, best, false)
	for _, want := range []string{
		"| lmetric | 1.00, 1.00 |",
		"| random | 2.00*, 4.00* |",
		"wholly on its side: `lmetric`.",
		"| dyn, gate auto | 2.00 ",
		"| dyn, oracle | 4.00 ",
		"| dyn | 3.00 ",
		"| dyn, events 1 s late | 2.90 ",
		"over Dynamo's default, 96 sessions, 8 workers | ≥ 1.5 | 1.20 ✗ | 1.20 ✗ |",
		"of LMetric over its own, 96 sessions, 8 workers | ≥ 1.3 | 1.00 ✗ | 1.00 ✗ |",
		"over the best other rule, 96 sessions, 8 workers | ≥ 0.98 | 1.000 [0.98, 1.03] (`lmetric`) ✓ |",
		"events 1 s late over usual ones, 96 sessions, 8 workers | ≥ 0.95 | 0.967 ✓ |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
