package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/ledger/snapshot"
)

// statsDoc is `dyn stats --json`: one list of sums, by what was asked for.
// Turns is there with --turns only, events with --events, memory and ledger while a daemon runs.
type statsDoc struct {
	V       int                 `json:"v"`
	Since   *time.Time          `json:"since"`  // null is all there is
	Agents  []ledger.Stat       `json:"agents"` // empty with another --by
	Kinds   []ledger.Stat       `json:"kinds,omitempty"`
	Tenants []ledger.Stat       `json:"tenants,omitempty"`
	Workers []ledger.Stat       `json:"workers,omitempty"`
	Models  []ledger.Stat       `json:"models,omitempty"`
	Turns   []ledger.Turn       `json:"turns,omitempty"`
	Events  []ledger.AgentEvent `json:"events,omitempty"`
	Memory  *snapshot.Memory    `json:"memory,omitempty"`
	Ledger  *snapshot.Ledger    `json:"ledger,omitempty"`
}

// stats is what was asked of `dyn stats`.
type stats struct {
	turns, events, noHeader bool
	since                   time.Duration
	by                      string
	q                       ledger.Query
}

func statsCmd(a *app) *cobra.Command {
	var s stats
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Sum up what was served, by session and agent, kind, key, worker or model",
		Long: "Sums up what was served, by session and agent, by kind of turn, by tenant (the\n" +
			"key that it came with), by worker or by model, or lists every turn. OVERLAP is the share\n" +
			"of prompts that was believed to be cached, HIT what engines said. Read from the ledger: it works when\n" +
			"nothing is running, too, and trails a busy daemon by up to a second. While a daemon\n" +
			"runs it also tells what is held in memory, and what bookkeeping has lost.",
		Example: examples("dyn stats", "all that is kept", "dyn stats --by kind", "what titles and compactions cost",
			"dyn stats --since 1h --turns --json=turns", "each turn of the last hour"),
	}
	flags := cmd.Flags()
	flags.BoolVar(&s.turns, "turns", false, "list every turn")
	flags.BoolVar(&s.events, "events", false, "list what agents did between their turns, as hooks told it or as it was seen")
	flags.StringVar(&s.by, "by", string(ledger.ByAgent), "sum by `what`: agent, kind, tenant, worker, model")
	flags.BoolVar(&s.noHeader, "no-header", false, "print rows only")
	flags.DurationVar(&s.since, "since", 0, "only what is younger than this `time`: 5m, 24h")
	flags.StringVar(&s.q.Session, "session", "", "only this session")
	flags.IntVar(&s.q.Limit, "limit", 0, "the newest `rows` only")
	groups := []string{string(ledger.ByAgent), string(ledger.ByKind), string(ledger.ByTenant), string(ledger.ByWorker), string(ledger.ByModel)}
	cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(groups, cobra.ShellCompDirectiveNoFileComp))
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !slices.Contains(groups, s.by) {
			return fail(usage, "stats", fmt.Errorf("--by %q is none of %s", s.by, strings.Join(groups, ", ")), "", "dyn stats --by kind")
		}
		if s.since < 0 {
			return fail(usage, "stats", fmt.Errorf("--since %s is in the future", s.since), "", "dyn stats --since "+(-s.since).String())
		}
		if s.q.Limit < 0 {
			return fail(usage, "stats", fmt.Errorf("--limit %d is below 0", s.q.Limit), "", "dyn stats --limit 20")
		}
		doc, err := s.read(cmd.Context(), a)
		switch {
		case err != nil:
			return err
		case show.on():
			return show.print(a.out, doc)
		}
		return s.print(a, doc)
	}
	show = asJSON(cmd, statsDoc{})
	return cmd
}

// read gathers what was asked for.
func (s *stats) read(ctx context.Context, a *app) (statsDoc, error) {
	doc := statsDoc{V: 1, Agents: []ledger.Stat{}}
	r, err := openLedger(a, "stats")
	if err != nil {
		return doc, err
	}
	defer r.Close()
	if s.since > 0 {
		s.q.Since = time.Now().Add(-s.since)
		doc.Since = &s.q.Since
	}
	if s.turns {
		if doc.Turns, err = r.Turns(ctx, s.q); err != nil {
			return doc, err
		}
	}
	if s.events {
		if doc.Events, err = r.AgentEvents(ctx, s.q); err != nil {
			return doc, err
		}
	}
	sums, err := r.Stats(ctx, ledger.By(s.by), s.q)
	if err != nil {
		return doc, err
	}
	switch ledger.By(s.by) {
	case ledger.ByKind:
		doc.Kinds = sums
	case ledger.ByTenant:
		doc.Tenants = sums
	case ledger.ByWorker:
		doc.Workers = sums
	case ledger.ByModel:
		doc.Models = sums
	default:
		doc.Agents = sums
	}
	if c, err := a.control(); err == nil {
		if picture, err := c.Snapshot(ctx); err == nil {
			doc.Memory, doc.Ledger = &picture.Memory, &picture.Ledger
		}
	}
	return doc, nil
}

// print writes the table, and under it what is held in memory.
func (s *stats) print(a *app, doc statsDoc) error {
	t := statTable(slices.Concat(doc.Agents, doc.Kinds, doc.Tenants, doc.Workers, doc.Models), ledger.By(s.by), s.noHeader, time.Now())
	n := len(groupColumns[ledger.By(s.by)].head)
	order := []int{n + 3, n + 2, n + 10, n + 11, n + 7}
	if n == 4 { // harness and model
		order = append(order, 2, 3)
	}
	if s.turns {
		t, order = turnTable(doc.Turns, s.noHeader), []int{5, 6, 1, 12, 4, 8, 3, 0}
	}
	if s.events {
		t, order = eventTable(doc.Events, s.noHeader), []int{7, 6, 1, 2, 0}
	}
	if err := t.narrowed(a.out, order...).print(a.out); err != nil || doc.Memory == nil {
		return err
	}
	a.warn(*doc.Ledger)
	if s.noHeader {
		return nil
	}
	_, err := fmt.Fprintf(a.out, "\n%s\n", memoryLine(*doc.Memory))
	return err
}

// memoryLine tells what the daemon holds so that next turns are quick.
func memoryLine(m snapshot.Memory) string {
	line := fmt.Sprintf("memory: %s, prompts %s, raw turns %s", plural(max(0, m.Agents), "agent"), size(m.Prompts), size(m.Raw))
	if m.Limit > 0 {
		line += " of " + size(m.Limit)
	}
	if m.Bodies > 0 {
		line += ", bodies " + size(m.Bodies)
	}
	if m.Dropped > 0 {
		line += fmt.Sprintf(", %d let go for room", m.Dropped)
	}
	if m.RSS > 0 {
		line += ", process " + size(m.RSS)
	}
	return line
}

// openLedger opens the ledger for reading; where none was written yet there
// is no such thing.
func openLedger(a *app, op string) (*ledger.Reader, error) {
	f, err := a.folders()
	if err != nil {
		return nil, err
	}
	r, err := ledger.OpenReader(f.Ledger())
	if errors.Is(err, ledger.ErrNone) {
		return nil, fail(nothing, op, errors.New("nothing is recorded yet"), "", "dyn up")
	}
	return r, unreadable(op, f, err)
}

// unreadable says what to do about a ledger that this dyn cannot read; other
// errors stay as they are.
func unreadable(op string, f folders.Folders, err error) error {
	aside := func(name string) string { return "mv " + quote(f.Ledger()) + " " + quote(f.Ledger()+name) }
	switch {
	case errors.Is(err, ledger.ErrNewer):
		return fail(failed, op, err, "use the newer dyn, which knows what is in it, or begin another ledger", aside(".newer"))
	case errors.Is(err, ledger.ErrForeign):
		return fail(failed, op, err, "nothing is recorded while it is there", aside(".other"))
	case errors.Is(err, ledger.ErrOlder):
		return fail(failed, op, err, "the next daemon brings it up to date", "dyn up")
	}
	return err
}

// groupColumns are the columns that tell the sums apart, with their cells.
var groupColumns = map[ledger.By]struct {
	head  []string
	cells func(ledger.Stat) []string
}{
	ledger.ByAgent: {[]string{"SESSION", "AGENT", "HARNESS", "MODEL"}, func(s ledger.Stat) []string {
		return []string{s.Session, s.Agent, dash(s.Harness), s.Model}
	}},
	ledger.ByKind:   {[]string{"KIND"}, func(s ledger.Stat) []string { return []string{dash(s.Kind)} }},
	ledger.ByTenant: {[]string{"TENANT"}, func(s ledger.Stat) []string { return []string{dash(s.Tenant)} }},
	ledger.ByWorker: {[]string{"WORKER", "MODEL"}, func(s ledger.Stat) []string { return []string{dash(s.Worker), s.Model} }},
	ledger.ByModel:  {[]string{"MODEL"}, func(s ledger.Stat) []string { return []string{s.Model} }},
}

func statTable(rows []ledger.Stat, by ledger.By, noHeader bool, now time.Time) *table {
	g := groupColumns[by]
	t := &table{}
	for i := range 11 {
		t.right = append(t.right, len(g.head)+i)
	}
	if !noHeader {
		t.head = slices.Concat(g.head, []string{"TURNS", "FAILED", "EDITED", "FLAWED", "IN", "CACHED", "OUT", "OVERLAP", "HIT", "TTFT P50", "P95", "LAST"})
	}
	for _, s := range rows {
		t.add(append(g.cells(s), strconv.Itoa(s.Turns), strconv.Itoa(s.Failed), strconv.Itoa(s.Edited), strconv.Itoa(s.Flawed), count(int(s.Prompt)),
			count(int(s.Cached)), count(int(s.Output)), percent(s.Overlap), percent(s.Hit), known(s.P50), known(s.P95), ago(s.Last, now))...)
	}
	return t
}

func turnTable(rows []ledger.Turn, noHeader bool) *table {
	t := &table{right: []int{8, 9, 10, 11, 12, 13}}
	if !noHeader {
		t.head = []string{"AT", "TURN", "SESSION", "AGENT", "KIND", "TENANT", "DIALECT", "WORKER", "OVERLAP", "IN", "CACHED", "OUT", "QUEUE", "TTFT", "OUTCOME"}
	}
	for _, r := range rows {
		outcome := r.Outcome
		if r.Error != "" {
			outcome = fmt.Sprintf("%s: %s", outcome, oneLine(r.Error))
		}
		t.add(r.At.Local().Format(time.DateTime), r.ID, r.Session, r.Agent, dash(r.Kind), dash(r.Tenant), r.Dialect, dash(r.Worker), count(r.Overlap), count(r.Prompt),
			count(r.Cached), count(r.Output), ms(r.QueueMS), ms(r.TTFTMS), outcome)
	}
	return t
}

func eventTable(rows []ledger.AgentEvent, noHeader bool) *table {
	t := &table{right: []int{5}}
	if !noHeader {
		t.head = []string{"AT", "SESSION", "AGENT", "EVENT", "TOOL", "TOOK", "SOURCE", "DETAIL"}
	}
	for _, r := range rows {
		t.add(r.At.Local().Format(time.DateTime), r.Session, r.Agent, r.Event, dash(r.Tool), ms(r.MS), r.Source, dash(r.Detail))
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
