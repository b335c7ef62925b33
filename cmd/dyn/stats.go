package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/ledger"
)

// statsDoc is `dyn stats --json`; Turns is there with --turns only.
type statsDoc struct {
	V      int           `json:"v"`
	Since  *time.Time    `json:"since"` // null is all there is
	Agents []ledger.Stat `json:"agents"`
	Turns  []ledger.Turn `json:"turns,omitempty"`
}

func statsCmd(a *app) *cobra.Command {
	var turns, noHeader bool
	var since time.Duration
	var q ledger.Query
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Sum up what was served, by session and agent",
		Long: "Sums up what was served, by session and agent, or lists every turn. Read from the\n" +
			"ledger: it works when nothing is running, too, and trails a busy daemon by up to a\n" +
			"second.",
		Example: examples("dyn stats", "all that is kept", "dyn stats --since 1h --turns", "each turn of the last hour",
			"dyn stats --turns --json=turns", "for scripts"),
	}
	cmd.Flags().BoolVar(&turns, "turns", false, "list every turn")
	cmd.Flags().BoolVar(&noHeader, "no-header", false, "print rows only")
	cmd.Flags().DurationVar(&since, "since", 0, "only what is younger than this `time`: 5m, 24h")
	cmd.Flags().StringVar(&q.Session, "session", "", "only this session")
	cmd.Flags().IntVar(&q.Limit, "limit", 0, "the newest `rows` only")
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := openLedger(a)
		if err != nil {
			return err
		}
		defer r.Close()
		doc := statsDoc{V: 1}
		if since > 0 {
			q.Since = time.Now().Add(-since)
			doc.Since = &q.Since
		}
		if doc.Agents, err = r.Stats(cmd.Context(), q); err != nil {
			return err
		}
		if turns {
			if doc.Turns, err = r.Turns(cmd.Context(), q); err != nil {
				return err
			}
		}
		switch {
		case show.on():
			return show.print(a.out, doc)
		case turns:
			return turnTable(doc.Turns, noHeader).print(a.out)
		}
		return statTable(doc.Agents, noHeader, time.Now()).print(a.out)
	}
	show = asJSON(cmd, statsDoc{})
	return cmd
}

// openLedger opens the ledger for reading; where none was written yet there
// is no such thing.
func openLedger(a *app) (*ledger.Reader, error) {
	f, err := a.folders()
	if err != nil {
		return nil, err
	}
	r, err := ledger.OpenReader(f.Ledger())
	if errors.Is(err, ledger.ErrNone) {
		return nil, fail(nothing, "stats", errors.New("nothing is recorded yet"), "", "dyn up")
	}
	return r, err
}

func statTable(rows []ledger.Stat, noHeader bool, now time.Time) *table {
	t := &table{right: []int{4, 5, 6, 7, 8, 9, 10}}
	if !noHeader {
		t.head = []string{"SESSION", "AGENT", "HARNESS", "MODEL", "TURNS", "IN", "CACHED", "OUT", "HIT", "TTFT P50", "P95", "LAST"}
	}
	for _, s := range rows {
		t.add(s.Session, s.Agent, dash(s.Harness), s.Model, strconv.Itoa(s.Turns), count(int(s.Prompt)), count(int(s.Cached)),
			count(int(s.Output)), percent(s.Hit), known(s.P50), known(s.P95), ago(s.Last, now))
	}
	return t
}

func turnTable(rows []ledger.Turn, noHeader bool) *table {
	t := &table{right: []int{6, 7, 8, 9, 10, 11}}
	if !noHeader {
		t.head = []string{"AT", "TURN", "SESSION", "AGENT", "DIALECT", "WORKER", "OVERLAP", "IN", "CACHED", "OUT", "QUEUE", "TTFT", "OUTCOME"}
	}
	for _, r := range rows {
		outcome := r.Outcome
		if r.Error != "" {
			outcome = fmt.Sprintf("%s: %s", outcome, oneLine(r.Error))
		}
		t.add(r.At.Local().Format(time.DateTime), r.ID, r.Session, r.Agent, r.Dialect, dash(r.Worker), count(r.Overlap), count(r.Prompt),
			count(r.Cached), count(r.Output), ms(r.QueueMS), ms(r.TTFTMS), outcome)
	}
	return t
}

// dash shows what is unknown.
func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func known(x *float64) string {
	if x == nil {
		return ms(-1)
	}
	return ms(*x)
}
