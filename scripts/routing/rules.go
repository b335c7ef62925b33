package main

import (
	"context"
	"slices"
	"sort"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/replay/trace"
	"github.com/agentinfer/dyn/route"
)

// settings are those that a rule is tuned with, four for each that has knobs;
// the first are its defaults.
var settings = map[string][]string{
	"dynamo":   {"dynamo", "dynamo:prefill=16", "dynamo:prefill=256", "dynamo:prefill=4096"},
	"kv-load":  {"kv-load", "kv-load:prefix=1:kv=1:queue=1", "kv-load:prefix=5", "kv-load:prefix=10"},
	"sglang":   {"sglang", "sglang:abs=4", "sglang:abs=8", "sglang:cache=0.5"},
	priced:     {"lmetric:memory=4", "lmetric:memory=2", "lmetric:memory=8", "lmetric:memory=16"},
	"sticky":   {"sticky", "sticky:override=1.25", "sticky:override=1.5", "sticky:override=2"},
	"dyn":      {"dyn", "dyn:memory=4", "dyn:memory=16", "dyn:start=0.6"},
	"thompson": {"thompson", "thompson:explore=0.02", "thompson:temperature=0.2", "thompson:deviation=0.05"},
}

// priced is the rule without coefficients, with a price of memory.
const priced = "lmetric+memory"

// row is what stands in a line of a cell's table.
type row struct {
	rule   string
	gate   route.GateMode
	oracle bool // the router knows true rates and lengths of answers, and events come at once
	late   bool // events come a second late
}

// rules are the rows of a cell that are rules: each with its best setting, and
// with their default ones Dynamo's, which bars are of, and the one that is the
// default here.
func (o *options) rules(c cell, best []string) (rows []row) {
	if c.of > 0 {
		return nil
	}
	for _, s := range best {
		rows = append(rows, row{rule: s})
	}
	for _, s := range []string{theirs, ours} {
		if !slices.Contains(best, s) {
			rows = append(rows, row{rule: s})
		}
	}
	return rows
}

// apart are the rows of settings that are no rules of their own: with the gate,
// with events that are late, and with what no router can know.
func (o *options) apart(c cell, best []string) (rows []row) {
	own := ownOf(best)
	if c.of > 0 {
		rows = []row{{rule: own}, {rule: own, gate: route.Auto}, {rule: ours, gate: route.Auto}, {rule: "lmetric", gate: route.Auto}}
		return slices.Compact(rows)
	}
	return []row{{rule: own, gate: route.Auto}, {rule: "lmetric", gate: route.Auto}, {rule: own, late: true}, {rule: own, oracle: true}}
}

// theirs is Dynamo's default, ours the default here.
const theirs, ours = "dynamo", "dyn"

// ownOf is the setting of the rule that the router is built around.
func ownOf(best []string) string {
	for _, s := range best {
		if kind(s) == ours {
			return s
		}
	}
	return ours
}

// label is what a row is called.
func (r row) label() string {
	switch {
	case r.oracle:
		return r.rule + ", oracle"
	case r.late:
		return r.rule + ", events 1 s late"
	case r.gate != "":
		return r.rule + ", gate " + string(r.gate)
	}
	return r.rule
}

// The cell and the seeds of tuning.
var (
	tuned  = cell{sessions: 96, workers: 8}
	tuning = []uint64{1, 2, 3}
)

// choices are the settings of every rule that there is.
func choices() (all [][]string) {
	for _, name := range append(route.Names(), priced) {
		some := settings[name]
		if some == nil {
			some = []string{name}
		}
		all = append(all, some)
	}
	return all
}

// tune finds the best setting of every rule. What is not finished when time is
// over is left at its defaults.
func (o *options) tune(ctx context.Context, t *trace.Trace, k *keep) (best []string, err error) {
	for _, some := range choices() {
		if len(some) == 1 {
			best = append(best, some[0])
			continue
		}
		if err == nil {
			var runs []replay.Config
			for _, s := range some {
				for _, seed := range tuning {
					runs = append(runs, o.config(row{rule: s}, seed, tuned))
				}
			}
			err = k.play(ctx, t, runs, o.jobs)
		}
		best = append(best, o.bestOf(k, some))
	}
	return best, err
}

// bestOf is the setting with most turns a second; of those within one per cent
// of it the one with the lowest mean time to the first token.
func (o *options) bestOf(k *keep, some []string) string {
	type tried struct {
		setting    string
		rate, ttft float64
	}
	var all []tried
	for _, s := range some {
		var rate, ttft []float64
		for _, seed := range tuning {
			if r := k.run(o.config(row{rule: s}, seed, tuned)); r != nil {
				rate, ttft = append(rate, r.PerSecond), append(ttft, r.TTFTMean)
			}
		}
		if len(rate) == len(tuning) {
			all = append(all, tried{s, replay.Mean(rate).Mean, replay.Mean(ttft).Mean})
		}
	}
	if len(all) < len(some) {
		return some[0]
	}
	most := 0.0
	for _, a := range all {
		most = max(most, a.rate)
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i].rate >= 0.99*most, all[j].rate >= 0.99*most
		if a != b {
			return a
		}
		return a && all[i].ttft < all[j].ttft
	})
	return all[0].setting
}

// report plays the best settings in all cells, on unseen seeds: one seed of all
// first, so that a run that is cut off has something of everything.
func (o *options) report(ctx context.Context, t *trace.Trace, k *keep, cells []cell, best []string) error {
	for i := range o.seeds {
		var runs []replay.Config
		for _, c := range cells {
			for _, r := range append(o.rules(c, best), o.apart(c, best)...) {
				runs = append(runs, o.config(r, o.unseen(i), c))
			}
		}
		if err := k.play(ctx, t, runs, o.jobs); err != nil {
			return err
		}
	}
	return nil
}

// unseen is a seed that was not used for tuning.
func (o *options) unseen(i int) uint64 { return tuning[len(tuning)-1] + 1 + uint64(i) }
