package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/scripts/page"
)

// page is docs/routing.md.
func (o *options) page(k *keep, cells []cell, best []string, cut bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Routing strategies compared

`+"`make bench-routing N=%d MEASURE=%s`"+` wrote this page, commit %s. All of it is simulated (`+"`dyn replay`"+`): Claude Code sessions
in a closed loop, contexts up to 120 k tokens, pauses up to two minutes, %.0f minutes counted after a third of that; workers of
Qwen3-32B on 2 H100 (derived, ±30 %%) with %.1f M KV tokens each, blocks of 64. Block events come %s late; the router takes prefill for %.0f times as
dear and decode for as much cheaper than they are. [strategies.md](strategies.md) says what the rules do.

Each rule with knobs was tuned with four settings, on seeds 1 to 3 at %d sessions on %d workers: most turns a second, within one per cent
the lowest mean TTFT. What is below is of other seeds (%d and up), mean ± half the 95 %% interval over seeds; seeds reshuffle the same
710 sessions. Compare rows; latencies are a model's.

Apart stand rows that are no rules of their own: with the gate `+"`auto`"+`, which holds cold turns back while a cache thrashes, with events a
second late, and an oracle, for which rates are right, events come at once and lengths of answers are known. `+"`lmetric:memory=…`"+` is LMetric with `+"`dyn`"+`'s
price of memory: so many more pay for the new tokens where sessions fill a cache.

`, o.seeds, o.measure, or(o.commit, "unknown"), o.measure.Minutes(), float64(o.kv)/1e6, o.lag, o.off, tuned.sessions, tuned.workers, o.unseen(0))
	if cut {
		b.WriteString("**Cut off by its time limit**: rows say on how many seeds they stand; the same command goes on.\n\n")
	}
	o.bars(&b, k, cells, best)
	o.pairs(&b, k, cells, best)
	for _, c := range cells {
		o.cell(&b, k, c, best)
	}
	o.published(&b, k)
	o.tuning(&b, k)
	fmt.Fprintf(&b, "\n## Live against simulated\n\n%s\n\n## Two vLLM workers\n\n%s\n", page.Place(livePart), page.Place(enginesPart))
	return b.String()
}

// The commands that write the last parts of the page.
const (
	livePart    = "make live"
	enginesPart = "make engines"
)

// cell writes the tables of one cell, the best first, losing rows kept.
func (o *options) cell(b *strings.Builder, k *keep, c cell, best []string) {
	rows, apart := o.rows(k, c, o.rules(c, best)), o.rows(k, c, o.apart(c, best))
	if len(rows)+len(apart) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n", c)
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].PerSecond.Mean > rows[j].PerSecond.Mean })
	if len(rows) > 0 {
		b.WriteString("| strategy | turns/s | hit | TTFT mean, s | p50 | p90 | p99 | moved | spread | seeds |\n|---|---|---|---|---|---|---|---|---|---|\n")
	} else {
		fmt.Fprintf(b, "Sessions want %d tokens each, and pause for as long as they did, half an hour at most; 50 minutes count after 40.\n\n", wantedBy)
	}
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.2f | %.2f | %.1f | %.0f | %.2f | %d |\n", r.Strategy, figure(r.PerSecond, 1, 2), figure(r.Hit, 1, 3),
			figure(r.TTFTMean, 1000, 2), r.TTFT50.Mean/1000, r.TTFT90.Mean/1000, r.TTFT99.Mean/1000, r.Moved.Mean, r.Spread.Mean, len(r.Seeds))
	}
	if len(rows) > 0 {
		b.WriteByte('\n')
	}
	if len(apart) == 0 {
		return
	}
	b.WriteString("| apart | turns/s | hit | TTFT mean, s | p50 | p90 | p99 | turn mean, s | held | seeds |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range apart {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.2f | %.2f | %.1f | %.1f | %.0f | %d |\n", r.Strategy, figure(r.PerSecond, 1, 2), figure(r.Hit, 1, 3),
			figure(r.TTFTMean, 1000, 2), r.TTFT50.Mean/1000, r.TTFT90.Mean/1000, r.TTFT99.Mean/1000, r.TotalMean.Mean/1000, r.Held.Mean, len(r.Seeds))
	}
	b.WriteByte('\n')
}

// String is what a cell is called.
func (c cell) String() string {
	if c.of > 0 {
		return fmt.Sprintf("%.1f of the memory that is wanted: %d sessions, %d workers", c.of, c.sessions, c.workers)
	}
	return fmt.Sprintf("%d sessions, %d workers", c.sessions, c.workers)
}

// rows sums up what was played of some rows in a cell.
func (o *options) rows(k *keep, c cell, some []row) (rows []replay.Row) {
	for _, s := range some {
		var rs []*replay.Result
		for i := range o.seeds {
			if r := k.run(o.config(s, o.unseen(i), c)); r != nil {
				rs = append(rs, r)
			}
		}
		for _, r := range replay.Rows(rs) {
			r.Strategy = s.label()
			rows = append(rows, r)
		}
	}
	return rows
}

// tuning writes what was tried.
func (o *options) tuning(b *strings.Builder, k *keep) {
	fmt.Fprintf(b, "## What was tried\n\n%d sessions on %d workers, seeds 1 to 3.\n\n| setting | turns/s | TTFT mean, s |\n|---|---|---|\n", tuned.sessions, tuned.workers)
	for _, some := range choices() {
		if len(some) == 1 {
			continue
		}
		for _, s := range some {
			var rs []*replay.Result
			for _, seed := range tuning {
				if r := k.run(o.config(row{rule: s}, seed, tuned)); r != nil {
					rs = append(rs, r)
				}
			}
			for _, r := range replay.Rows(rs) {
				fmt.Fprintf(b, "| %s | %s | %s |\n", s, figure(r.PerSecond, 1, 2), figure(r.TTFTMean, 1000, 2))
			}
		}
	}
}

func figure(f replay.Figure, by float64, digits int) string {
	text := fmt.Sprintf("%.*f", digits, f.Mean/by)
	if f.Half >= 0 {
		text += fmt.Sprintf(" ± %.*f", digits, f.Half/by)
	}
	return text
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
