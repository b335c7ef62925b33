package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/replay/trace"
	"github.com/agentinfer/dyn/route"
)

// replayDoc is `dyn replay --json`.
type replayDoc struct {
	V         int              `json:"v"`
	Trace     replayTrace      `json:"trace"`
	Setup     replaySetup      `json:"setup"`
	Rows      []replay.Row     `json:"rows"`
	Runs      []*replay.Result `json:"runs"`
	Missing   int              `json:"runs_missing"` // it was interrupted before they were done
	Wall      float64          `json:"wall_s"`
	PerMinute float64          `json:"turns_per_min"` // played, of all runs together
}

// replayTrace is what was played.
type replayTrace struct {
	Name     string `json:"name"`
	Format   string `json:"format"`
	Sessions int    `json:"sessions"`
	Turns    int    `json:"turns"`
	Block    int    `json:"block_tokens"`

	Notes []string `json:"notes"` // what of it is estimated
}

// replaySetup is what it was played on.
type replaySetup struct {
	Engine   string  `json:"engine"`
	Profile  string  `json:"model_profile"`
	Workers  int     `json:"workers"`
	KV       int     `json:"kv_tokens"` // -1 is without bounds
	Block    int     `json:"block_tokens"`
	Loop     string  `json:"loop"`     // open, closed
	Sessions int     `json:"sessions"` // of a closed loop, else -1
	Warm     float64 `json:"warm_s"`
	Measure  float64 `json:"measure_s"` // 0 is all of an open loop
	Lag      float64 `json:"event_lag_ms"`
	Loss     float64 `json:"event_loss"`
	Queue    bool    `json:"queue"` // of the router
	Gate     string  `json:"gate"`
}

// replayRun are the flags of replay.
type replayRun struct {
	cmd          *cobra.Command
	strategies   []string
	seeds        string
	profile, eng string
	gate, model  string
	open, bare   bool
	jobs         int
	c            replay.Config
}

func replayCmd(a *app) *cobra.Command {
	var o replayRun
	cmd := &cobra.Command{
		Use:   "replay <trace>",
		Short: "Play recorded load against model engines and compare routing strategies",
		Long: "Plays a trace in simulated time: the router's own code decides, model engines\n" +
			"answer. Reads Claude Code sessions (WEKA), Mooncake and Dynamo JSONL, Azure and\n" +
			"TraceLab files, gzip or not. Sessions with pauses are a closed loop, in which the next\n" +
			"turn comes when the last has ended and the pause is over; requests with times alone\n" +
			"come at those. made:NAME is the load of a published comparison: " + strings.Join(trace.MadeNames(), ", ") + ".\n" +
			"\n" +
			"ledger: is your own traffic, ledger:2d that of two days, at its own times. Sessions,\n" +
			"sub-agents, times, pauses, lengths of prompts and answers are what the ledger says. It\n" +
			"keeps no prompts, so what they share is estimated: a prompt goes on from its agent's\n" +
			"last one up to where a break was noted, and first prompts of one kind share what most\n" +
			"of them found cached. Your times to a first token are not used.\n" +
			"\n" +
			"The engines' figures are derived, ±30 %: compare rows, expect no latencies.",
		Example: examples("dyn replay claude_code.jsonl.gz --sessions 96 --kv-tokens 1000000", "all of a trace's sessions, 96 at a time",
			"dyn replay conversation_trace.jsonl --strategy kv,round-robin --workers 8", "requests at their times",
			"dyn replay trace.jsonl --seeds 1-5 --json=rows", "means with 95 % intervals",
			"dyn replay ledger:2d --strategy dyn,mine.star", "your own traffic under a rule of your own"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail(usage, "replay", fmt.Errorf("wants one trace, got %d words", len(args)), "", "dyn replay trace.jsonl")
			}
			return nil
		},
	}
	o.flags(cmd)
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.cmd = cmd
		doc, err := o.play(cmd.Context(), a, args[0])
		if doc.V == 0 {
			return err
		}
		shown := o.print
		if show.on() {
			shown = func(a *app, doc replayDoc) error { return show.print(a.out, doc) }
		}
		return errors.Join(shown(a, doc), err)
	}
	show = asJSON(cmd, replayDoc{})
	return cmd
}

// flags are the command's.
func (o *replayRun) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.strategies, "strategy", replay.Strategies(), "the `rules` to compare, with knobs, dynamo:prefill=16, or files, mine.star")
	f.StringVar(&o.model, "model", "", "`name` of the model whose turns are played, of ledger: (default the busiest)")
	f.StringVar(&o.seeds, "seeds", "1", "`which` orders of the sessions: 1,2,3 or 1-3")
	f.IntVar(&o.c.Workers, "workers", 8, "`how many` workers; of ledger: as many as served")
	f.StringVar(&o.profile, "model-profile", fleet.DefaultProfile, "`model` and GPUs of a worker")
	f.StringVar(&o.eng, "engine", string(replay.Steps), "`how` workers are modelled: step (time and blocks), blocks (no time)")
	f.IntVar(&o.c.KV, "kv-tokens", 0, "`tokens` that a worker's cache holds; 0 is the profile's, -1 without bounds")
	f.IntVar(&o.c.Block, "block-size", 64, "`tokens` of a block")
	f.BoolVar(&o.open, "open", false, "sessions come at the trace's times, whatever still runs")
	f.Float64Var(&o.c.Speed, "speed", 1, "`times` as fast, of an open loop")
	f.IntVar(&o.c.Sessions, "sessions", 64, "`how many` are alive at any time, of a closed loop")
	f.DurationVar(&o.c.Measure, "duration", 0, "simulated `time` that counts (default 45m; of an open loop all)")
	f.DurationVar(&o.c.Warm, "warm-up", 0, "simulated `time` before it (default a third of it; of an open loop none)")
	f.IntVar(&o.c.MaxContext, "max-context", 0, "a session ends before a prompt of more `tokens` (default 120000; of an open loop no limit)")
	f.DurationVar(&o.c.MaxPause, "max-pause", 0, "longer pauses are cut to this `time` (default 2m; of an open loop no limit)")
	f.DurationVar(&o.c.Lag, "event-lag", 2*time.Millisecond, "`time` until the router hears of blocks; with --engine blocks none unless given")
	f.Float64Var(&o.c.Loss, "event-loss", 0, "`share` of block events that never arrive")
	f.StringVar(&o.gate, "gate", string(route.Open), "`whether` cold turns are held back where memory is short: off, auto, balanced, throughput")
	f.BoolVar(&o.c.Queue, "queue", false, "turns wait in the router where workers are full, not in the engines")
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "`runs` at a time")
	f.BoolVar(&o.bare, "no-header", false, "print rows only")
	cmd.RegisterFlagCompletionFunc("strategy", cobra.FixedCompletions(replay.Strategies(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions([]string{string(replay.Steps), string(replay.Blocks)}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("model-profile", cobra.FixedCompletions(profileNames(), cobra.ShellCompDirectiveNoFileComp))
}

func profileNames() (names []string) {
	for _, p := range fleet.Profiles {
		names = append(names, p.Name)
	}
	return names
}

// play reads the trace and makes all runs. What was done before it was
// interrupted is in the document.
func (o *replayRun) play(ctx context.Context, a *app, path string) (doc replayDoc, err error) {
	seeds, err := o.check()
	if err != nil {
		return doc, err
	}
	t, err := o.load(ctx, a, path)
	if err != nil {
		return doc, err
	}
	o.c.Open = o.open || t.Timed && (!t.Paused || !o.given("sessions"))
	o.c.Engine = replay.Engine(o.eng)
	var runs []replay.Config
	for _, s := range o.strategies {
		for _, seed := range seeds {
			c := o.c
			c.Strategy, c.Seed = s, seed
			runs = append(runs, c)
		}
	}
	began := time.Now()
	results, err := replay.Compare(ctx, t, runs, o.jobs, o.progress(a, len(runs)))
	results = slices.DeleteFunc(results, func(r *replay.Result) bool { return r == nil })
	if err != nil && !errors.Is(err, context.Canceled) {
		try := "dyn replay --help"
		var long *replay.TooLong
		if errors.As(err, &long) {
			try = fmt.Sprintf("dyn replay --max-context %d", long.Needs)
		}
		return doc, fail(usage, "replay", err, "", try)
	}
	doc = replayDoc{V: 1, Rows: replay.Rows(results), Runs: results, Missing: len(runs) - len(results), Wall: time.Since(began).Seconds()}
	doc.Trace = replayTrace{t.Name, t.Format, len(t.Sessions), t.Turns(), t.Block, append([]string{}, t.Notes...)}
	doc.Setup = setupOf(runs[0].Fill(t))
	all := 0
	for _, r := range results {
		all += r.All
	}
	doc.PerMinute = float64(all) / max(doc.Wall, 1e-9) * 60
	if err == nil {
		err = measured(doc)
	}
	return doc, err
}

// measured is an error where a strategy's row would be zeros because no turn
// counted.
func measured(doc replayDoc) error {
	var empty []string
	for i := range doc.Rows {
		if doc.Rows[i].Turns.Mean == 0 {
			empty = append(empty, doc.Rows[i].Strategy)
		}
	}
	if len(empty) == 0 {
		return nil
	}
	played, refused := 0, 0
	for _, r := range doc.Runs {
		played, refused = played+r.All, refused+r.Refused
	}
	why := fmt.Sprintf("no turn ended after the warm-up of %s; %d were played", time.Duration(doc.Setup.Warm*float64(time.Second)), played)
	if refused > 0 {
		why += fmt.Sprintf(", %d refused: they fit no worker", refused)
	}
	return fail(nothing, "replay", errors.New("nothing measured: "+strings.Join(empty, ", ")), why, "dyn replay --warm-up 0")
}

// setupOf tells what was played on.
func setupOf(c replay.Config) replaySetup {
	s := replaySetup{
		Engine: string(c.Engine), Profile: c.Profile.Name, Workers: c.Workers, KV: c.KV, Block: c.Block, Loop: "closed", Sessions: c.Sessions,
		Warm: c.Warm.Seconds(), Measure: c.Measure.Seconds(), Lag: float64(c.Lag) / float64(time.Millisecond), Loss: c.Loss, Queue: c.Queue, Gate: string(c.Gate),
	}
	if c.Open {
		s.Loop, s.Sessions = "open", -1
	}
	return s
}
