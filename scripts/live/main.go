package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/replay/trace"
	"github.com/agentinfer/dyn/scripts/page"
)

// options are the flags.
type options struct {
	dyn, trace, doc, commit string
	strategies              string
	workers, sessions, kv   int
	runs                    int
	speed                   float64
	warm, measure           time.Duration
	only                    bool
	anyway                  bool

	profile fleet.Profile
}

// unclear is the exit code of a check that says nothing.
const unclear = 3

// errUnclear is in the chain then.
var errUnclear = errors.New("INCONCLUSIVE")

func main() {
	var o options
	var profile string
	flag.StringVar(&o.dyn, "dyn", "./dyn", "the `program` that is tried")
	flag.StringVar(&o.trace, "trace", "../shared/traces/claude-code-weka/claude_code_710.compact.jsonl.gz", "what is played")
	flag.StringVar(&o.doc, "doc", "", "`page` that gets the table; empty prints it")
	flag.StringVar(&o.commit, "commit", "unknown", "of the program")
	flag.StringVar(&o.strategies, "strategies", "dyn,lmetric,kv-load,dynamo,sticky,round-robin", "to compare")
	flag.StringVar(&profile, "profile", "Llama-70B, 4xH100", "of the engines, a name that replay and dyn worker sim know")
	flag.IntVar(&o.workers, "workers", 4, "simulated engines")
	flag.IntVar(&o.sessions, "sessions", 24, "alive at any time")
	flag.IntVar(&o.kv, "kv", 110_000, "KV tokens of an engine")
	flag.IntVar(&o.runs, "n", 3, "runs of each strategy, each of other sessions")
	flag.Float64Var(&o.speed, "speed", 16, "times are divided by it")
	flag.DurationVar(&o.warm, "warm", 8*time.Second, "real time that is not counted")
	flag.DurationVar(&o.measure, "measure", 16*time.Second, "real time that is")
	flag.BoolVar(&o.only, "replay", false, "play replay's side only")
	flag.BoolVar(&o.anyway, "anyway", false, "go on when the machine is too busy; nothing can be said all the same")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if o.profile, err = fleet.FindProfile(profile); err == nil {
		err = o.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		stop()
		if errors.Is(err, errUnclear) {
			os.Exit(unclear)
		}
		os.Exit(1)
	}
}

// run plays everything, writes the table and returns a verdict that is not ok.
func (o *options) run(ctx context.Context) error {
	t, err := trace.Open(o.trace)
	if err != nil {
		return err
	}
	if o.dyn, err = filepath.Abs(o.dyn); err != nil {
		return err
	}
	names := strings.Split(o.strategies, ",")
	rows := make([]row, len(names))
	for i, name := range names {
		rows[i].strategy = name
	}
	began := time.Now()
	for r := range o.runs {
		l, err := load(t, uint64(r+1), o.sessions, o.speed, o.warm/2, o.warm+o.measure)
		if err != nil {
			return err
		}
		for k := range rows {
			if err := o.compare(ctx, &rows[(k+r)%len(rows)], l, uint64(r+1)); err != nil {
				return err
			}
		}
	}
	v := judge(rows)
	table := o.table(rows, v, time.Since(began))
	if o.doc == "" || v.unclear != "" {
		fmt.Print(table)
	} else if err := page.Put(o.doc, "make live", table); err != nil {
		return err
	}
	switch {
	case v.unclear != "":
		return fmt.Errorf("%w: %s", errUnclear, v.unclear)
	case len(v.wrong) > 0:
		return errors.New(v.said())
	}
	fmt.Println(v.said())
	return nil
}

// compare plays a load under a strategy, on both sides.
func (o *options) compare(ctx context.Context, r *row, l *trace.Trace, seed uint64) error {
	simulated, err := o.replayed(ctx, r.strategy, l, seed)
	if err != nil {
		return err
	}
	r.replay = append(r.replay, simulated)
	actual, busy := simulated, 0.0
	if !o.only {
		if actual, busy, err = o.played(ctx, r.strategy, l); err != nil {
			return err
		}
	}
	r.live, r.busy = append(r.live, actual), append(r.busy, busy)
	fmt.Printf("%-14s run %d: hit %.3f, replay %.3f; ttft %.0f ms, replay %.0f; %d turns, %d; moved %d, %d; %d failed; machine %.0f %% busy\n",
		r.strategy, len(r.live), actual.hit(), simulated.hit(), actual.mean(), simulated.mean(), actual.turns, simulated.turns, actual.moved, simulated.moved, actual.failed, 100*busy)
	if busy > busyMost && !o.anyway {
		return fmt.Errorf("%w: the machine was %.0f %% busy, %.0f are the most: times are its own then, not those of the engines. Run it on a quiet machine", errUnclear, 100*busy, 100*busyMost)
	}
	return nil
}

// played is the side of the daemon, and how busy the machine was.
func (o *options) played(ctx context.Context, strategy string, l *trace.Trace) (side, float64, error) {
	d, err := o.up(ctx, strategy, l.Block)
	if err != nil {
		return side{}, 0, err
	}
	defer d.down()
	before, err := look()
	if err != nil {
		return side{}, 0, err
	}
	s := play(ctx, d.url, l, o.warm, o.measure)
	after, err := look()
	if err == nil {
		err = ctx.Err()
	}
	return s, after.since(before), err
}

// replayed is the side of replay.
func (o *options) replayed(ctx context.Context, strategy string, l *trace.Trace, seed uint64) (s side, err error) {
	m := o.profile
	for _, ms := range []*float64{&m.Step, &m.Token, &m.Square, &m.Context, &m.Seq} {
		*ms /= o.speed
	}
	r, err := replay.Run(ctx, l, replay.Config{
		Strategy: strategy, Seed: seed, Workers: o.workers, Profile: m, KV: o.kv, Block: l.Block, Open: true, Warm: o.warm, Measure: o.measure,
		Lag: 5 * time.Millisecond,
		Each: func(d replay.Done) {
			if d.Ended > o.warm && d.Ended <= o.warm+o.measure {
				s.turns++
				s.prompt += d.Prompt
				s.cached += d.Cached
				s.ttft += float64(d.First-d.Arrived) / float64(time.Millisecond)
			}
		},
	})
	if err == nil {
		s.moved = r.Moved
	}
	return s, err
}
