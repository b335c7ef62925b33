package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/replay/trace"
)

// options are the flags.
type options struct {
	trace, state, doc, commit string
	fleets, sizes, seeds      string
	rows                      string
	jobs                      int
	lag, budget               time.Duration
	part                      float64

	list   []uint64  // seeds
	shares []float64 // sizes
}

func main() {
	var o options
	flag.StringVar(&o.trace, "trace", "../shared/traces/claude-code-weka/claude_code_710.compact.jsonl.gz", "what is played")
	flag.StringVar(&o.state, "state", "", "`file` that keeps every run; needed")
	flag.StringVar(&o.doc, "doc", "", "`page` that is written; empty prints it")
	flag.StringVar(&o.commit, "commit", "", "of the program")
	flag.StringVar(&o.fleets, "fleets", "F,Q", "that are played")
	flag.StringVar(&o.sizes, "sizes", "0.4,0.6,0.8", "of all KV, as a share of what the sessions want")
	flag.StringVar(&o.seeds, "seeds", "1,2,3", "orders of the sessions")
	flag.StringVar(&o.rows, "rows", "", "only these rows, with semicolons between; empty is all")
	flag.IntVar(&o.jobs, "jobs", 1, "runs at a time")
	flag.DurationVar(&o.lag, "lag", 50*time.Millisecond, "of block events")
	flag.DurationVar(&o.budget, "budget", 0, "real time after which it ends, resumable; 0 is none")
	flag.Float64Var(&o.part, "part", 1, "of the 90 simulated minutes")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "cachebench:", err)
		os.Exit(1)
	}
}

// scale is a part of a simulated time.
func (o *options) scale(d time.Duration) time.Duration { return time.Duration(o.part * float64(d)) }

func run(o *options) error {
	if o.state == "" {
		return errors.New("-state names the file that keeps every run")
	}
	t, err := trace.Open(o.trace)
	if err != nil {
		return err
	}
	k, err := openKeep(o.state)
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
	err = k.play(ctx, t, o, cells)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text, failed := o.page(context.Background(), t, k, err != nil)
	switch {
	case failed != nil:
		return failed
	case o.doc == "":
		_, err = fmt.Print(text)
		return err
	}
	return os.WriteFile(o.doc, []byte(text), 0o644)
}

// cell is one run.
type cell struct {
	fleet fleetOf
	row   row
	size  float64
	seed  uint64
}

// cells are all runs, one seed of everything first.
func (o *options) cells() (all []cell, err error) {
	for _, text := range strings.Split(o.seeds, ",") {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("seed %q: %w", text, err)
		}
		o.list = append(o.list, n)
	}
	for _, text := range strings.Split(o.sizes, ",") {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("size %q: %w", text, err)
		}
		o.shares = append(o.shares, x)
	}
	for _, seed := range o.list {
		for _, f := range fleets {
			if !listed(o.fleets, ",", f.name) {
				continue
			}
			for _, size := range o.shares {
				for _, r := range rows {
					if o.rows == "" || listed(o.rows, ";", r.name) {
						all = append(all, cell{f, r, size, seed})
					}
				}
			}
		}
	}
	return all, nil
}

// listed reports whether a name is in a list.
func listed(list, between, name string) bool {
	return strings.Contains(between+list+between, between+name+between)
}
