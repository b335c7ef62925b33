package main

import (
	"fmt"
	"math"

	"github.com/agentinfer/dyn/cmd/dyn/internal/agentbench"
)

// benchDoc is `dyn bench agent --json`.
type benchDoc struct {
	V       int          `json:"v"`
	Model   string       `json:"model"`
	Workers int          `json:"workers_ready"`
	Prefix  int          `json:"prefix_tokens"`
	Turns   int          `json:"turns"`
	Rounds  int          `json:"rounds"`
	Pause   [2]float64   `json:"pause_ms"` // least and most
	Seed    uint64       `json:"seed"`
	Levels  []benchLevel `json:"levels"`
	Foreign int          `json:"foreign_turns"` // that others sent meanwhile
}

// benchLevel is how it went with so many sessions.
type benchLevel struct {
	Sessions  int             `json:"sessions"`
	Arms      []benchArm      `json:"arms"`
	Contrasts []benchContrast `json:"contrasts"`
}

// benchArm is one strategy; null where no engine told.
type benchArm struct {
	Strategy   string   `json:"strategy"`
	Turns      int      `json:"turns"`
	Failed     int      `json:"failed"`
	TTFT       float64  `json:"ttft_mean_ms"`
	P50        float64  `json:"ttft_p50_ms"`
	P95        float64  `json:"ttft_p95_ms"`
	Hit        *float64 `json:"hit"`
	Recomputed *float64 `json:"recomputed_tokens_per_turn"`
}

// benchContrast is what changes from one strategy to the other. Of ttft it is a
// share of the other's mean, of hit a difference of shares, of recomputed one of
// tokens a turn.
type benchContrast struct {
	Measure  string   `json:"measure"`
	Strategy string   `json:"strategy"`
	Against  string   `json:"against"`
	Pairs    int      `json:"pairs"`
	Diff     *float64 `json:"difference"`
	Low      *float64 `json:"low"` // of an interval of 95 %
	High     *float64 `json:"high"`
	Verdict  string   `json:"verdict"` // "lower", "higher", or "" with the reason in why
	Why      string   `json:"why"`
}

// doc is the document before anything was measured.
func (b *bench) doc(s served, workers int) *benchDoc {
	return &benchDoc{
		V: 1, Model: s.Model, Workers: workers, Prefix: b.load.Prefix, Turns: b.load.Turns, Rounds: b.rounds, Seed: b.load.Seed,
		Pause: [2]float64{float64(b.load.Pause[0].Milliseconds()), float64(b.load.Pause[1].Milliseconds())}, Levels: []benchLevel{},
	}
}

// add takes what came at one level. The first strategy is compared with each
// other.
func (d *benchDoc) add(sessions int, names []string, arms []arm, seed uint64) {
	one := benchLevel{Sessions: sessions, Contrasts: []benchContrast{}}
	for i := range arms {
		y := &arms[i].all
		one.Arms = append(one.Arms, benchArm{names[i], y.Turns, y.Failed, y.Mean(), y.Quantile(0.5), y.Quantile(0.95), told(y.Hit()), told(y.PerTurn())})
		if i == 0 {
			continue
		}
		pairs := agentbench.Pairs(arms[0].sessions, arms[i].sessions, sessions)
		for _, m := range agentbench.Measures {
			c := agentbench.Compare(m, pairs, seed)
			word, why := agentbench.Verdict(c, m, pairs, &arms[0].all, y)
			one.Contrasts = append(one.Contrasts, benchContrast{m.Name, names[0], names[i], len(pairs), number(c.Diff), number(c.Low), number(c.High), word, why})
		}
	}
	d.Levels = append(d.Levels, one)
}

// number is a figure, nil where there is none.
func number(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// turns is how many were sent.
func (d *benchDoc) turns() (n int) {
	for _, l := range d.Levels {
		for _, y := range l.Arms {
			n += y.Turns + y.Failed
		}
	}
	return n
}

// show prints the arms, and what changes between them.
func (d *benchDoc) show(a *app) error {
	t := &table{head: []string{"SESSIONS", "STRATEGY", "TURNS", "FAILED", "TTFT", "P50", "P95", "HIT", "RECOMPUTED"}, right: []int{0, 2, 3, 4, 5, 6, 7, 8}}
	for _, l := range d.Levels {
		for _, y := range l.Arms {
			again := "–"
			if y.Recomputed != nil {
				again = fmt.Sprintf("%.0f/turn", *y.Recomputed)
			}
			t.add(fmt.Sprint(l.Sessions), y.Strategy, count(y.Turns), count(y.Failed), ms(y.TTFT), ms(y.P50), ms(y.P95), percent(y.Hit), again)
		}
	}
	if err := t.print(a.out); err != nil {
		return err
	}
	diff := &table{head: []string{"SESSIONS", "CHANGE", "OF", "BY", "FROM", "TO", "VERDICT"}, right: []int{0, 3, 4, 5}}
	for _, l := range d.Levels {
		for _, c := range l.Contrasts {
			verdict := "none: " + c.Why
			if c.Verdict != "" {
				verdict = c.Strategy + " is " + c.Verdict
			}
			diff.add(fmt.Sprint(l.Sessions), c.Strategy+" against "+c.Against, c.Measure, c.written(c.Diff), c.written(c.Low), c.written(c.High), verdict)
		}
	}
	if len(diff.rows) > 0 {
		fmt.Fprintln(a.out)
		if err := diff.print(a.out); err != nil {
			return err
		}
	}
	if d.Foreign > 0 {
		fmt.Fprintf(a.err, "! others sent %s meanwhile\n", plural(d.Foreign, "turn"))
	}
	return nil
}

// written is a difference in the unit of its measure.
func (c benchContrast) written(x *float64) string {
	switch {
	case x == nil:
		return "–"
	case c.Measure == "recomputed":
		return fmt.Sprintf("%+.0f", *x)
	case c.Measure == "hit":
		return fmt.Sprintf("%+.1f points", 100**x)
	}
	return fmt.Sprintf("%+.1f%%", 100**x)
}
