package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// table is the part of the page.
func (o *options) table(rows []row, v verdict, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, `Written by `+"`make live`"+` on %s at commit `+"`%s`"+`, in %s; not by hand. %s.

%d runs of each strategy, each of other sessions: %d at a time on %d simulated engines (%s, %d KV tokens, blocks of 16), recorded lengths divided by %d and
times by %g, %s counted after %s. Live are a daemon, its engines and clients over HTTP; replay plays the same load in simulated time. Gate and queue are off on both sides.

| strategy | hit, live | replay | off | turns, live | replay | TTFT, ms, live | replay | moved, live | replay | machine busy |
|---|---|---|---|---|---|---|---|---|---|---|
`, time.Now().UTC().Format(time.DateOnly), o.commit, took.Round(time.Second), machine(), o.runs, o.sessions, o.workers, o.profile.Name, o.kv, shrink, o.speed, o.measure, o.warm)
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(&b, "| %s | %.3f (%s) | %.3f (%s) | %+.1f %% | %s | %s | %s | %s | %s | %s | %s |\n", r.strategy, hit(r.live), each(r.live, hits), hit(r.replay), each(r.replay, hits), 100*r.off(),
			each(r.live, counts), each(r.replay, counts), each(r.live, waits), each(r.replay, waits), each(r.live, moves), each(r.replay, moves), shares(r.busy))
	}
	fmt.Fprintf(&b, "\n%s.\n", v.said())
	return b.String()
}

// each is a figure of every run.
func each(sides []side, of func(side) string) string {
	all := make([]string, len(sides))
	for i, s := range sides {
		all[i] = of(s)
	}
	return strings.Join(all, ", ")
}

func hits(s side) string { return fmt.Sprintf("%.3f", s.hit()) }

func counts(s side) string {
	if s.failed > 0 {
		return fmt.Sprintf("%d and %d failed", s.turns, s.failed)
	}
	return fmt.Sprint(s.turns)
}

func waits(s side) string { return fmt.Sprintf("%.0f", s.mean()) }

func moves(s side) string { return fmt.Sprint(s.moved) }

// shares are parts of one, in per cent.
func shares(xs []float64) string {
	all := make([]string, len(xs))
	for i, x := range xs {
		all[i] = fmt.Sprintf("%.0f", 100*x)
	}
	return strings.Join(all, ", ") + " %"
}

// machine says what was run on.
func machine() string {
	cpu := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				cpu = strings.TrimSpace(v)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s/%s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
}
