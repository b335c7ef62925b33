package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/replay"
)

// ratio is one rule's figure over another's, seed by seed: its mean and its
// 95 % interval, of logarithms.
type ratio struct{ mean, low, high float64 }

// ratioOf compares the seeds that both were played with; false where there are
// fewer than two.
func (o *options) ratioOf(k *keep, c cell, a, b string, of func(*replay.Result) float64) (r ratio, ok bool) {
	var logs []float64
	for i := range o.seeds {
		x, y := k.run(o.config(row{rule: a}, o.unseen(i), c)), k.run(o.config(row{rule: b}, o.unseen(i), c))
		if x != nil && y != nil && of(x) > 0 && of(y) > 0 {
			logs = append(logs, math.Log(of(x)/of(y)))
		}
	}
	f := replay.Mean(logs)
	return ratio{math.Exp(f.Mean), math.Exp(f.Mean - f.Half), math.Exp(f.Mean + f.Half)}, f.Half >= 0
}

// text is a ratio, marked where its interval leaves 1 out.
func (r ratio) text() string {
	mark := ""
	if r.low > 1 || r.high < 1 {
		mark = "*"
	}
	return fmt.Sprintf("%.2f%s", r.mean, mark)
}

// pairs compares the rule that the router is built around with every other one,
// cell by cell, and says which simpler ones are as good.
func (o *options) pairs(b *strings.Builder, k *keep, cells []cell, best []string) {
	own := ownOf(best)
	cells = slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return c.of > 0 })
	fmt.Fprintf(b, "## `%s` against each\n\nTurns a second of `%s` over the rule's (more than 1 is in its favour), then the rule's mean TTFT over its own (likewise), seed by seed.\n"+
		"A star: the 95 %% interval leaves 1 out.\n\n| strategy |", own, own)
	for _, c := range cells {
		fmt.Fprintf(b, " %d on %d |", c.sessions, c.workers)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(cells)) + "\n")
	var good []string
	for _, row := range o.rules(cell{}, best) {
		s := row.rule
		if s == own {
			continue
		}
		fmt.Fprintf(b, "| %s |", s)
		lost, all := false, true
		for _, c := range cells {
			rate, ok1 := o.ratioOf(k, c, own, s, func(r *replay.Result) float64 { return r.PerSecond })
			wait, ok2 := o.ratioOf(k, c, s, own, func(r *replay.Result) float64 { return r.TTFTMean })
			if !ok1 || !ok2 {
				b.WriteString(" – |")
				all = false
				continue
			}
			fmt.Fprintf(b, " %s, %s |", rate.text(), wait.text())
			lost = lost || rate.low > 1 || wait.low > 1
		}
		b.WriteByte('\n')
		if all && !lost {
			good = append(good, "`"+s+"`")
		}
	}
	if len(good) == 0 {
		good = []string{"none"}
	}
	fmt.Fprintf(b, "\nAs good as `%s` in every cell, in that no interval of either figure is wholly on its side: %s.\n\n", own, strings.Join(good, ", "))
}
