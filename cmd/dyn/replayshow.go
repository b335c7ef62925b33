package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/turn"
)

// whyOf is the line of detail of a fault, if it has one.
func whyOf(err error) string {
	var f *turn.Fault
	if errors.As(err, &f) {
		return f.Why
	}
	return ""
}

// progress tells a terminal how far the runs are.
func (o *replayRun) progress(a *app, n int) func(int, *replay.Result) {
	if _, tty := terminal(a.err); !tty || n < 2 {
		return nil
	}
	done := 0
	return func(_ int, r *replay.Result) {
		done++
		fmt.Fprintf(a.err, "\r\x1b[K%d of %d: %s, seed %d", done, n, r.Strategy, r.Seed)
		if done == n {
			fmt.Fprint(a.err, "\r\x1b[K")
		}
	}
}

// print writes the table and, on a terminal, the times as a picture.
func (o *replayRun) print(a *app, doc replayDoc) error {
	t := &table{right: []int{1, 2, 3, 4, 5, 6, 7, 8, 9}}
	if !o.bare {
		t.head = []string{"STRATEGY", "REQ/S", "HIT", "TTFT MEAN", "P50", "P90", "P99", "MOVED", "SPREAD", "QUEUED"}
	}
	for _, r := range doc.Rows {
		if r.Turns.Mean == 0 {
			t.add(r.Strategy, "–", "–", "–", "–", "–", "–", "–", "–", "–")
			continue
		}
		t.add(r.Strategy, figure(r.PerSecond, 2), figure(replay.Figure{Mean: 100 * r.Hit.Mean, Half: 100 * r.Hit.Half}, 1)+"%",
			ms(r.TTFTMean.Mean)+half(r.TTFTMean), ms(r.TTFT50.Mean), ms(r.TTFT90.Mean), ms(r.TTFT99.Mean),
			count(int(r.Moved.Mean)), fmt.Sprintf("%.2f", r.Spread.Mean), count(int(r.Queued.Mean)))
	}
	if err := t.narrowed(a.out, 8, 9, 7, 5, 4).print(a.out); err != nil || o.bare {
		return err
	}
	if width, tty := terminal(a.out); tty {
		fmt.Fprint(a.out, strips(doc.Rows, width))
	}
	s := doc.Setup
	load := fmt.Sprintf("%d sessions", s.Sessions)
	if s.Loop == "open" {
		load = "at the trace's times"
	}
	kv := count(s.KV) + " KV tokens"
	if s.KV < 0 {
		kv = "KV without bounds"
	}
	fmt.Fprintf(a.out, "\n%s: %s, %s, %s of %s (derived, ±30 %%), %s, blocks of %d; %s turns a minute\n",
		doc.Trace.Name, plural(doc.Trace.Turns, "turn"), load, plural(s.Workers, "worker"), s.Profile, kv, s.Block, count(int(doc.PerMinute)))
	return printNotes(a, doc)
}

// printNotes says what of the rows is estimated, failed or missing.
func printNotes(a *app, doc replayDoc) error {
	var lines []string
	for i, n := range doc.Trace.Notes {
		if i == 0 {
			n = "estimated: " + n
		}
		lines = append(lines, n)
	}
	for _, r := range doc.Rows {
		if r.Failed > 0 {
			lines = append(lines, fmt.Sprintf("%s failed in %s, the default decided: %s", r.Strategy, plural(r.Failed, "decision"), r.Warning))
		}
	}
	if s := doc.Setup; s.Loop == "closed" && s.Sessions > doc.Trace.Sessions {
		lines = append(lines, fmt.Sprintf("the trace has %s: for %d at a time it is begun again, with other contents", plural(doc.Trace.Sessions, "session"), s.Sessions))
	}
	if doc.Setup.Workers == 1 {
		lines = append(lines, "with one worker all rules are alike: --workers 2")
	}
	if doc.Missing > 0 {
		lines = append(lines, fmt.Sprintf("interrupted: %d of %s done, rows are of those", len(doc.Runs), plural(len(doc.Runs)+doc.Missing, "run")))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(a.out, line); err != nil {
			return err
		}
	}
	return nil
}

// figure is a mean with its interval, if it has one.
func figure(f replay.Figure, digits int) string {
	text := fmt.Sprintf("%.*f", digits, f.Mean)
	if f.Half >= 0 {
		text += fmt.Sprintf(" ±%.*f", digits, f.Half)
	}
	return text
}

// half is the interval of a time.
func half(f replay.Figure) string {
	if f.Half < 0 {
		return ""
	}
	return " ±" + ms(f.Half)
}

// strips draws, for each row, where the times to the first token lie on a
// logarithmic line: from p50 over p90 to p99, and the mean.
func strips(rows []replay.Row, width int) string {
	label, low, high := 0, math.Inf(1), 0.0
	for _, r := range rows {
		label = max(label, len([]rune(r.Strategy)))
		low, high = min(low, max(r.TTFT50.Mean, 1)), max(high, r.TTFT99.Mean)
	}
	n := min(width, 100) - label - 3
	if high <= low || n < 20 {
		return ""
	}
	from, to := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	at := func(ms float64) int {
		x := (math.Log10(max(ms, 1)) - from) / (to - from)
		return min(max(int(x*float64(n-1)+0.5), 0), n-1)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-*s  %s\n", label, "TTFT", axis(from, to, n, at))
	for _, r := range rows {
		line := []rune(strings.Repeat(" ", n))
		for i := at(r.TTFT50.Mean); i <= at(r.TTFT99.Mean); i++ {
			line[i] = '─'
			if i <= at(r.TTFT90.Mean) {
				line[i] = '━'
			}
		}
		line[at(r.TTFTMean.Mean)] = '●'
		fmt.Fprintf(&b, "%-*s  %s\n", label, r.Strategy, strings.TrimRight(string(line), " "))
	}
	fmt.Fprintf(&b, "%-*s  %s\n", label, "", "━ p50 to p90, ─ to p99, ● mean")
	return b.String()
}

// axis names the powers of ten.
func axis(from, to float64, n int, at func(float64) int) string {
	line := []rune(strings.Repeat(" ", n))
	for e := from; e <= to; e++ {
		name := []rune(time.Duration(math.Pow(10, e) * float64(time.Millisecond)).String())
		i := min(at(math.Pow(10, e)), n-len(name))
		copy(line[max(i, 0):], name)
	}
	return strings.TrimRight(string(line), " ")
}
