package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
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
	strategies   []string
	seeds        string
	profile, eng string
	gate         string
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
			"The engines' figures are derived, ±30 %: compare rows, expect no latencies.",
		Example: examples("dyn replay claude_code.jsonl.gz --sessions 96 --kv-tokens 1000000", "all of a trace's sessions, 96 at a time",
			"dyn replay conversation_trace.jsonl --strategy kv,round-robin --workers 8", "requests at their times",
			"dyn replay trace.jsonl --seeds 1-5 --json=rows", "means with 95 % intervals"),
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
		doc, err := o.play(cmd.Context(), a, args[0])
		switch {
		case err != nil:
			return err
		case show.on():
			return show.print(a.out, doc)
		}
		return o.print(a, doc)
	}
	show = asJSON(cmd, replayDoc{})
	return cmd
}

// flags are the command's.
func (o *replayRun) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.strategies, "strategy", replay.Strategies(), "the `rules` to compare, with knobs: dynamo:prefill=16")
	f.StringVar(&o.seeds, "seeds", "1", "`which` orders of the sessions: 1,2,3 or 1-3")
	f.IntVar(&o.c.Workers, "workers", 8, "`how many` workers")
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
	f.DurationVar(&o.c.MaxPause, "max-pause", 2*time.Minute, "longer pauses are cut to this `time`")
	f.DurationVar(&o.c.Lag, "event-lag", 2*time.Millisecond, "`time` until the router hears of blocks")
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

// play reads the trace and makes all runs.
func (o *replayRun) play(ctx context.Context, a *app, path string) (doc replayDoc, err error) {
	seeds, err := o.check()
	if err != nil {
		return doc, err
	}
	read := trace.Open
	name, isMade := strings.CutPrefix(path, "made:")
	if isMade {
		path, read = name, trace.Make
	}
	t, err := read(path)
	if isMade && err != nil {
		return doc, fail(usage, "replay", err, "", "dyn replay made:"+trace.MadeNames()[0])
	}
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return doc, err
		}
		return doc, fail(usage, "replay", errors.Unwrap(err), whyOf(err), "")
	}
	o.c.Open = o.open || t.Timed && !t.Paused
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
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return doc, err
		}
		return doc, fail(usage, "replay", err, "", "dyn replay --help")
	}
	doc = replayDoc{V: 1, Rows: replay.Rows(results), Runs: results, Wall: time.Since(began).Seconds()}
	doc.Trace = replayTrace{t.Name, t.Format, len(t.Sessions), t.Turns(), t.Block}
	doc.Setup = setupOf(runs[0].Fill(t))
	all := 0
	for _, r := range results {
		all += r.All
	}
	doc.PerMinute = float64(all) / max(doc.Wall, 1e-9) * 60
	return doc, nil
}

// check looks at what was asked before a trace is read.
func (o *replayRun) check() (seeds []uint64, err error) {
	for _, s := range o.strategies {
		err := replay.Known(s)
		if s == "" {
			err = fmt.Errorf("--strategy has an empty name among its rules")
		}
		if err != nil {
			try := "dyn replay --strategy " + replay.Strategies()[0]
			if near := config.Nearest(s, replay.Strategies()); near != "" {
				try = "dyn replay --strategy " + near
			}
			return nil, fail(usage, "replay", err, "", try)
		}
	}
	if o.c.Profile, err = fleet.FindProfile(o.profile); err != nil {
		return nil, fail(usage, "replay", err, "", "dyn replay --model-profile "+quote(fleet.DefaultProfile))
	}
	if o.c.Gate, err = route.ParseGate(o.gate); err != nil {
		return nil, fail(usage, "replay", err, "", "dyn replay --gate auto")
	}
	if seeds, err = seedsOf(o.seeds); err != nil {
		return nil, fail(usage, "replay", err, "", "dyn replay --seeds 1-3")
	}
	return seeds, nil
}

// seedsOf reads a list of seeds and ranges of them.
func seedsOf(text string) (seeds []uint64, err error) {
	for _, part := range strings.Split(text, ",") {
		first, last, span := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.ParseUint(first, 10, 32)
		to := from
		if err == nil && span {
			to, err = strconv.ParseUint(last, 10, 32)
		}
		if err != nil || from == 0 || to < from || to-from >= 1000 {
			return nil, fmt.Errorf("--seeds %q is neither like 1,2,3 nor like 1-3", text)
		}
		for s := from; s <= to; s++ {
			seeds = append(seeds, s)
		}
	}
	return seeds, nil
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
