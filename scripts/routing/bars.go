package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/route"
)

// bar is something that the router is to reach, and what it reaches.
type bar struct {
	what, want, got string
	met             bool
}

// Of a cache that is too small: the hit that every seed has to have with the
// gate, where one that stays in thrash has a fraction of it.
var floors = map[float64]float64{0.4: 0.65, 0.6: 0.85}

// bars writes what was to be reached and what is, by the means over seeds: of
// the setting that was best in tuning, and of the default.
func (o *options) bars(b *strings.Builder, k *keep, cells []cell, best []string) {
	own := ownOf(best)
	all := o.reached(k, cells, best, own)
	if len(all) == 0 {
		return
	}
	usual := map[string]bar{}
	for _, r := range o.reached(k, cells, best, ours) {
		usual[r.what] = r
	}
	all = append(all, speedBars(k)...)
	b.WriteString("## Bars\n\nOf means over seeds; in brackets the 95 % interval of the ratio, seed by seed. `" + own + "` was best in tuning, `" + ours + "` is the default.\n\n| what | bar | `" + own + "` | `" + ours + "` |\n|---|---|---|---|\n")
	for _, r := range all {
		other := "–"
		if u, ok := usual[r.what]; ok {
			other = u.got + " " + tick(u.met)
		}
		fmt.Fprintf(b, "| %s | %s | %s %s | %s |\n", r.what, r.want, r.got, tick(r.met), other)
	}
	b.WriteByte('\n')
}

// reached are the bars of one setting, as far as it was played.
func (o *options) reached(k *keep, cells []cell, best []string, own string) []bar {
	all := append(o.against(k, own), o.nowhere(k, cells, best, own)...)
	return append(all, o.gated(k, own)...)
}

// mean is a figure's mean over the seeds that a row and another were both
// played with, of both; false without any.
func (o *options) mean(k *keep, c cell, a, z row, of func(*replay.Result) float64) (x, y float64, ok bool) {
	n := 0.0
	for i := range o.seeds {
		p, q := k.run(o.config(a, o.unseen(i), c)), k.run(o.config(z, o.unseen(i), c))
		if p != nil && q != nil {
			x, y, n = x+of(p), y+of(q), n+1
		}
	}
	return x / max(n, 1), y / max(n, 1), n > 0 && x > 0 && y > 0
}

// kind is a rule without its knobs.
func kind(rule string) string {
	name, _, _ := strings.Cut(rule, ":")
	return name
}

func rate(r *replay.Result) float64 { return r.PerSecond }
func wait(r *replay.Result) float64 { return r.TTFTMean }

// against are the bars against single rules and against late events.
func (o *options) against(k *keep, own string) (bars []bar) {
	at := func(sessions int) cell { return cell{sessions: sessions, workers: 8} }
	for _, s := range []struct {
		cell       cell
		other      row
		what       string
		rate, wait float64 // times the turns, times as short a wait
	}{
		{at(64), row{rule: theirs}, "Dynamo's default", 1.5, 5},
		{at(96), row{rule: theirs}, "Dynamo's default", 1.5, 5},
		{at(96), row{rule: "lmetric"}, "LMetric", 0, 1.3},
	} {
		x, y, ok := o.mean(k, s.cell, row{rule: own}, s.other, rate)
		if !ok {
			continue
		}
		if s.rate > 0 {
			bars = append(bars, bar{fmt.Sprintf("turns/s over %s, %s", s.what, s.cell), fmt.Sprintf("≥ %.1f", s.rate), fmt.Sprintf("%.2f", x/y), x/y >= s.rate})
		}
		x, y, _ = o.mean(k, s.cell, row{rule: own}, s.other, wait)
		bars = append(bars, bar{fmt.Sprintf("mean TTFT of %s over its own, %s", s.what, s.cell), fmt.Sprintf("≥ %.1f", s.wait), fmt.Sprintf("%.2f", y/x), y/x >= s.wait})
	}
	for _, n := range []int{64, 96} {
		if x, y, ok := o.mean(k, at(n), row{rule: own, late: true}, row{rule: own}, rate); ok {
			bars = append(bars, bar{fmt.Sprintf("turns/s with events 1 s late over usual ones, %s", at(n)), "≥ 0.95", fmt.Sprintf("%.3f", x/y), x/y >= 0.95})
		}
	}
	return bars
}

// nowhere are the bars of being not behind any other rule, cell by cell.
func (o *options) nowhere(k *keep, cells []cell, best []string, own string) (bars []bar) {
	for _, c := range cells {
		least, by := math.Inf(1), ""
		for _, r := range o.rules(c, best) {
			if x, y, ok := o.mean(k, c, row{rule: own}, r, rate); ok && kind(r.rule) != kind(own) && x/y < least {
				least, by = x/y, r.rule
			}
		}
		if by != "" {
			text := fmt.Sprintf("%.3f (`%s`)", least, by)
			if r, ok := o.ratioOf(k, c, own, by, rate); ok {
				text = fmt.Sprintf("%.3f [%.2f, %.2f] (`%s`)", least, r.low, r.high, by)
			}
			bars = append(bars, bar{fmt.Sprintf("turns/s over the best other rule, %s", c), "≥ 0.98", text, least >= 0.98})
		}
	}
	return bars
}

// gated are the bars of caches that are too small.
func (o *options) gated(k *keep, own string) (bars []bar) {
	for _, c := range short {
		worst, n := math.Inf(1), 0
		for i := range o.seeds {
			if r := k.run(o.config(row{rule: own, gate: route.Auto}, o.unseen(i), c)); r != nil {
				worst, n = min(worst, r.Hit), n+1
			}
		}
		if n > 0 {
			bars = append(bars, bar{fmt.Sprintf("hit of the worst of %d seeds with the gate `auto`, %s", n, c), fmt.Sprintf("≥ %.2f", floors[c.of]), fmt.Sprintf("%.3f", worst), worst >= floors[c.of]})
		}
	}
	return bars
}
