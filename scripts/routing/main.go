package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/replay/trace"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/scripts/page"
)

// options are the flags.
type options struct {
	trace, chats         string
	state, doc, commit   string
	seeds, kv, jobs      int
	sessions, workers    string
	measure, lag, budget time.Duration
	off                  float64
}

func main() {
	var o options
	flag.StringVar(&o.trace, "trace", "../shared/traces/claude-code-weka/claude_code_710.compact.jsonl.gz", "what is played")
	flag.StringVar(&o.chats, "conversations", "../shared/traces/mooncake-fast25/conversation_trace.jsonl", "Mooncake's, of a published comparison")
	flag.StringVar(&o.state, "state", "", "`file` that keeps every run; needed")
	flag.StringVar(&o.doc, "doc", "", "`page` that is written; empty prints it")
	flag.StringVar(&o.commit, "commit", "", "of the program")
	flag.IntVar(&o.seeds, "n", 5, "unseen seeds in each cell")
	flag.IntVar(&o.kv, "kv", 1_000_000, "KV tokens of a worker")
	flag.IntVar(&o.jobs, "jobs", 0, "runs at a time; 0 is one a core")
	flag.StringVar(&o.sessions, "sessions", "32,64,96,128", "of the cells")
	flag.StringVar(&o.workers, "workers", "2,8", "of the cells")
	flag.DurationVar(&o.measure, "measure", 45*time.Minute, "simulated time that counts, after a third of it")
	flag.DurationVar(&o.lag, "lag", 50*time.Millisecond, "of block events")
	flag.Float64Var(&o.off, "off", 3, "factor by which the router's constants are wrong: prefill too dear, decode too cheap")
	flag.DurationVar(&o.budget, "budget", 0, "real time after which it ends, resumable; 0 is none")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "routing:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	if o.jobs <= 0 {
		o.jobs = runtime.GOMAXPROCS(0)
	}
	if o.state == "" {
		return errors.New("-state names the file that keeps every run")
	}
	t, err := trace.Open(o.trace)
	if err != nil {
		return err
	}
	k, err := openKeep(o.state, t.Name)
	if err != nil {
		return err
	}
	defer k.close()
	ctx := context.Background()
	if o.budget > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, o.budget)
		defer stop()
	}
	cells, err := o.cells()
	if err != nil {
		return err
	}
	best, err := o.tune(ctx, t, k)
	for _, more := range []func() error{
		func() error { return o.speed(ctx, t, k) },
		func() error { return o.others(ctx, k) },
		func() error { return o.report(ctx, t, k, cells, best) },
	} {
		if err == nil {
			err = more()
		}
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text := o.page(k, cells, best, err != nil)
	if o.doc == "" {
		_, err = fmt.Print(text)
		return err
	}
	return page.Keep(o.doc, text, livePart, enginesPart)
}

// cell is a size of the experiment.
type cell struct {
	sessions, workers int
	of                float64 // of the memory that sessions want, which then pause for as long as they did; 0 is the usual size
}

// cells are all sizes.
func (o *options) cells() (all []cell, err error) {
	for _, w := range strings.Split(o.workers, ",") {
		for _, s := range strings.Split(o.sessions, ",") {
			c := cell{}
			if c.workers, err = strconv.Atoi(w); err == nil {
				c.sessions, err = strconv.Atoi(s)
			}
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return append(all, short...), nil
}

// short are the cells with too little memory: 16 sessions a worker.
var short = []cell{{128, 8, 0.4}, {128, 8, 0.6}}

// wantedBy is what a session wants, in tokens.
const wantedBy = 66_000

// config is one run.
func (o *options) config(r row, seed uint64, c cell) replay.Config {
	conf := replay.Config{
		Strategy: r.rule, Seed: seed, Sessions: c.sessions, Workers: c.workers, KV: o.kv, Measure: o.measure, Lag: o.lag, Gate: r.gate,
	}
	if c.of > 0 {
		conf.KV = int(c.of * float64(c.sessions/c.workers) * wantedBy)
		conf.Ramp, conf.Warm, conf.Measure, conf.MaxPause = 20*time.Minute, 40*time.Minute, 50*time.Minute, 30*time.Minute
	}
	if r.late {
		conf.Lag = time.Second
	}
	if r.oracle {
		conf.Foresees, conf.Lag = true, 0
		return conf
	}
	if o.off > 0 && o.off != 1 {
		m := conf.Fill(&trace.Trace{}).Profile
		conf.Believed = &route.Rates{Step: m.Step, Token: m.Token * o.off, Square: m.Square * o.off, Context: m.Context / o.off, Seq: m.Seq / o.off}
	}
	return conf
}
