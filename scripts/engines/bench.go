package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentinfer/dyn/scripts/page"
)

// benchArgs are small enough for a model on a core.
var benchArgs = strings.Fields("bench agent --strategy dyn,round-robin --sessions 1,4 --rounds 2 --turns 4 --prefix 600 --step 60 --output 12 --pause 500ms-2s")

// benchmark is what `dyn bench agent --json` says.
type benchmark struct {
	Levels []struct {
		Sessions int
		Arms     []struct {
			Strategy      string
			Turns, Failed int
			TTFT          float64  `json:"ttft_mean_ms"`
			P50           float64  `json:"ttft_p50_ms"`
			P95           float64  `json:"ttft_p95_ms"`
			Hit           *float64 `json:"hit"`
			Recomputed    *float64 `json:"recomputed_tokens_per_turn"`
		}
		Contrasts []contrast
	}
	Foreign int `json:"foreign_turns"`
}

// contrast is what the first strategy changes against the other.
type contrast struct {
	Measure, Strategy, Against string
	Diff                       *float64 `json:"difference"`
	Low, High                  *float64
	Verdict, Why               string
}

// benchScene lets agents work under two strategies, in turn, and tells what
// that changes, whatever it is.
func benchScene(ctx context.Context, l *lab, s *sheet) error {
	began := time.Now()
	var doc benchmark
	if err := l.json(ctx, &doc, benchArgs...); err != nil {
		return err
	}
	turns, failed := 0, 0
	for _, level := range doc.Levels {
		for _, y := range level.Arms {
			turns, failed = turns+y.Turns, failed+y.Failed
		}
		for _, c := range level.Contrasts {
			s.note(l.k.name, fmt.Sprintf("`dyn bench agent`, %d sessions: %s under %s against %s", level.Sessions, c.Measure, c.Strategy, c.Against), "%s", c.said())
		}
	}
	s.check(l.k.name, "… each of its turns was answered", failed == 0 && turns > 0 && doc.Foreign == 0, "%d turns, %d failed, %d of others, %.0f s", turns, failed, doc.Foreign, time.Since(began).Seconds())
	if l.o.routing == "" {
		return nil
	}
	return page.Put(l.o.routing, "make engines", doc.page(l, time.Since(began)))
}

// said is a difference with its interval.
func (c contrast) said() string {
	if c.Diff == nil {
		return "no verdict: " + c.Why
	}
	text := c.number(c.Diff)
	if c.Low != nil && c.High != nil {
		text += fmt.Sprintf(" (%s to %s)", c.number(c.Low), c.number(c.High))
	}
	if c.Verdict == "" {
		return text + "; no verdict: " + c.Why
	}
	return text + "; " + c.Strategy + " is " + c.Verdict
}

// number is a figure in the unit of its measure.
func (c contrast) number(x *float64) string {
	switch c.Measure {
	case "ttft":
		return fmt.Sprintf("%+.1f %%", 100**x)
	case "hit":
		return fmt.Sprintf("%+.1f points", 100**x)
	}
	return fmt.Sprintf("%+.0f tokens a turn", *x)
}

// page is the part of docs/routing.md.
func (d *benchmark) page(l *lab, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Written by `make engines` on %s at commit `%s`, in %s; not by hand. %s. Two workers of vLLM %s on the same cores, SmolLM2 135M:\n`dyn %s`. The model is small and the cores few: what is compared here is that it works and what it says, not how much it gains.\n\n",
		time.Now().UTC().Format(time.DateOnly), l.o.commit, took.Round(time.Second), machine(), l.version, strings.Join(benchArgs, " "))
	b.WriteString("| sessions | strategy | turns | TTFT mean, ms | p50 | p95 | hit | computed again, tokens a turn |\n|---|---|---|---|---|---|---|---|\n")
	for _, level := range d.Levels {
		for _, y := range level.Arms {
			fmt.Fprintf(&b, "| %d | %s | %d | %.0f | %.0f | %.0f | %s | %s |\n", level.Sessions, y.Strategy, y.Turns, y.TTFT, y.P50, y.P95, optional("%.3f", y.Hit), optional("%.0f", y.Recomputed))
		}
	}
	b.WriteString("\n| sessions | | what `dyn` changes (95 % interval) |\n|---|---|---|\n")
	for _, level := range d.Levels {
		for _, c := range level.Contrasts {
			fmt.Fprintf(&b, "| %d | %s against %s | %s |\n", level.Sessions, c.Measure, c.Against, c.said())
		}
	}
	return b.String()
}

// optional is a figure, or a dash.
func optional(format string, x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf(format, *x)
}
