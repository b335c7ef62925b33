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

	"github.com/agentinfer/dyn/cache/policy"
	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/replay/curve"
)

// curveDoc is `dyn cache replay --json`.
type curveDoc struct {
	V         int           `json:"v"`
	Trace     replayTrace   `json:"trace"`
	Working   int           `json:"working_set_tokens"`
	Distinct  int           `json:"distinct_tokens"`
	Best      float64       `json:"hit_without_bounds"`
	Points    []curve.Point `json:"points"`
	Wall      float64       `json:"wall_s"`
	PerMinute float64       `json:"turns_per_min"`
}

// curveRun are the flags of cache replay.
type curveRun struct {
	replayRun
	policies, sizes []string
	o               curve.Options
}

func cacheReplayCmd(a *app) *cobra.Command {
	var o curveRun
	cmd := &cobra.Command{
		Use:   "replay <trace>",
		Short: "Hit curves: what caches of several sizes find under several policies",
		Long: "Plays recorded load through caches alone, in open loop: turns come when they came,\n" +
			"whatever is found. Rows are ceilings: the policy is the evictor, which no engine lets\n" +
			"anybody be, and a turn that is faster brings no other sooner. LRU is what engines do,\n" +
			"belady the optimum, by looking ahead; both are in every table. What a router gets from\n" +
			"engines that evict by LRU is in docs/cache.md.\n" +
			"\n" +
			"Traces are those of dyn replay, ledger: among them. A size is tokens, 2M, or a share of\n" +
			"the working set, 0.2x: what was used and will be again, the mean over turns.\n" +
			"\n" + policyHelp(),
		Example: examples("dyn cache replay claude_code.jsonl.gz --size 2M,0.2x", "two sizes",
			"dyn cache replay ledger:2d --policy value,s3fifo", "your own traffic",
			"dyn cache replay trace.jsonl --json=points", "for a plot of your own"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail(usage, "cache replay", fmt.Errorf("wants one trace, got %d words", len(args)), "", "dyn cache replay trace.jsonl")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.policies, "policy", policy.Names(), "the `policies` to compare; lru and belady are always there")
	f.StringSliceVar(&o.sizes, "size", []string{"0.1x", "0.2x", "0.4x", "0.6x", "0.8x", "1x"}, "`sizes` of the cache: tokens (2M, 500k) or shares of the working set (0.2x)")
	f.StringVar(&o.model, "model", "", "`name` of the model whose turns are played, of ledger: (default the busiest)")
	f.IntVar(&o.o.Sessions, "sessions", 64, "`how many` are alive at any time, where the trace has no times")
	f.DurationVar(&o.o.MaxPause, "max-pause", 0, "longer waits are cut to this `time` (default 30m; no limit where the trace has times)")
	f.Float64Var(&o.o.Leased, "leased", 0.5, "`share` of sessions that ask to be kept, for the policy lease")
	f.Uint64Var(&o.o.Seed, "seed", 1, "`which` order of the sessions")
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "`caches` played at a time")
	f.BoolVar(&o.bare, "no-header", false, "print rows only")
	cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(policy.Names(), cobra.ShellCompDirectiveNoFileComp))
	var show *jsonFlag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.cmd = cmd
		doc, sizes, err := o.play(cmd.Context(), a, args[0])
		switch {
		case err != nil:
			return err
		case show.on():
			return show.print(a.out, doc)
		}
		return o.print(a, doc, sizes)
	}
	show = asJSON(cmd, curveDoc{})
	return cmd
}

// policyHelp says what each policy does.
func policyHelp() string {
	var b strings.Builder
	for _, r := range policy.All() {
		fmt.Fprintf(&b, "  %-8s %s\n", r.Name, r.About)
	}
	return strings.TrimRight(b.String(), "\n")
}

// rules are the policies asked for, LRU first and Belady last.
func (o *curveRun) rules() (rules []policy.Rule, err error) {
	names := slices.DeleteFunc(slices.Clone(o.policies), func(n string) bool { return n == policy.LRU || n == policy.Belady })
	for _, name := range append(append([]string{policy.LRU}, names...), policy.Belady) {
		r, err := policy.Find(name)
		if err != nil {
			try := "dyn cache replay --policy value"
			if near := config.Nearest(name, policy.Names()); near != "" {
				try = "dyn cache replay --policy " + near
			}
			return nil, fail(usage, "cache replay", err, "", try)
		}
		if slices.ContainsFunc(rules, func(x policy.Rule) bool { return x.Name == r.Name }) {
			return nil, fail(usage, "cache replay", fmt.Errorf("--policy has %s twice", r.Name), "", "dyn cache replay --policy "+r.Name)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// play reads the trace and plays it.
func (o *curveRun) play(ctx context.Context, a *app, path string) (doc curveDoc, sizes []int, err error) {
	rules, err := o.rules()
	if err == nil {
		err = o.checkCurve()
	}
	if err != nil {
		return doc, nil, err
	}
	t, err := o.load(ctx, a, path)
	if err != nil {
		return doc, nil, err
	}
	p, err := curve.New(t, o.o)
	if err != nil {
		return doc, nil, fail(nothing, "cache replay", err, "", "")
	}
	if sizes, err = p.Sizes(o.sizes); err != nil {
		return doc, nil, fail(usage, "cache replay", err, "", "dyn cache replay --size 2M,0.2x")
	}
	began := time.Now()
	points, err := curve.Table(ctx, p, rules, sizes, o.jobs)
	if err != nil {
		return doc, nil, err
	}
	doc = curveDoc{V: 1, Working: p.Working, Distinct: p.Distinct, Best: p.Best, Points: points, Wall: time.Since(began).Seconds()}
	doc.Trace = replayTrace{t.Name, t.Format, len(t.Sessions), t.Turns(), t.Block, append([]string{}, t.Notes...)}
	doc.PerMinute = float64(p.Turns()*len(points)) / max(doc.Wall, 1e-9) * 60
	return doc, sizes, nil
}

// checkCurve refuses what makes no sense before a trace is read.
func (o *curveRun) checkCurve() error {
	bad := ""
	switch {
	case o.o.Sessions < 1:
		bad = "sessions"
	case o.given("max-pause") && o.o.MaxPause <= 0:
		bad = "max-pause"
	case !(o.o.Leased >= 0 && o.o.Leased <= 1):
		bad = "leased"
	case o.o.Seed < 1:
		bad = "seed"
	case o.jobs < 1:
		bad = "jobs"
	default:
		return nil
	}
	flag := o.cmd.Flags().Lookup(bad)
	return fail(usage, "cache replay", errors.New("--"+bad+" "+flag.Value.String()+" makes no sense"), strings.ReplaceAll(flag.Usage, "`", ""), "dyn cache replay --help")
}
