package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/replay/trace"
)

// timed are the runs whose speed has a bar, in turns a minute with all cores.
var timed = []struct {
	what string
	conf replay.Config
	bar  float64
}{
	{"step model", replay.Config{Strategy: "dyn"}, 250_000},
	{"blocks and index without engines", replay.Config{Strategy: "dyn", Engine: replay.Blocks}, 1_000_000},
	{"blocks and index without engines", replay.Config{Strategy: "lmetric", Engine: replay.Blocks}, 1_000_000},
}

// Speed is measured on so many runs for each core, the best time of a few.
const (
	speedRuns  = 3
	speedTimes = 3
)

// cpu is the time that this process had of all cores: on a machine that others
// use too, the time on the wall is no measure.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// speed measures what was not yet: 96 sessions on 8 workers, blocks of 64.
func (o *options) speed(ctx context.Context, t *trace.Trace, k *keep) error {
	for i := range timed {
		key := speedKey(i)
		if k.speeds[key] > 0 {
			continue
		}
		cores, best := runtime.GOMAXPROCS(0), 0.0
		for range speedTimes {
			var runs []replay.Config
			for j := range speedRuns * cores {
				c := timed[i].conf
				c.Seed, c.Sessions, c.Workers, c.KV, c.Lag = uint64(1+j), tuned.sessions, tuned.workers, o.kv, o.lag
				if c.Engine == replay.Blocks {
					c.Lag = 0 // of turns that take no time
				}
				runs = append(runs, c)
			}
			began := cpu()
			rs, err := replay.Compare(ctx, t, runs, cores, nil)
			if err != nil {
				return err
			}
			all := 0
			for _, r := range rs {
				all += r.All
			}
			best = max(best, float64(all)/(cpu()-began).Minutes()*float64(cores))
		}
		fmt.Fprintf(os.Stderr, "%s: %.0f turns a minute\n", key, best)
		if err := k.write(line{Key: key, Speed: best}); err != nil {
			return err
		}
	}
	return nil
}

// speedKey is what a measurement is called in the file.
func speedKey(i int) string {
	return fmt.Sprintf("speed of %s, %s, %d cores", timed[i].what, timed[i].conf.Strategy, runtime.GOMAXPROCS(0))
}

// speedBars are the bars of speed.
func speedBars(k *keep) (bars []bar) {
	for i, s := range timed {
		if v := k.speeds[speedKey(i)]; v > 0 {
			bars = append(bars, bar{
				fmt.Sprintf("replay, %s, `%s`: turns in a minute's time of %d cores", s.what, s.conf.Strategy, runtime.GOMAXPROCS(0)),
				"≥ " + thousands(s.bar), thousands(v), v >= s.bar,
			})
		}
	}
	return bars
}

// thousands writes a number with commas.
func thousands(x float64) string {
	text := fmt.Sprintf("%.0f", x)
	var parts []string
	for len(text) > 3 {
		parts = append([]string{text[len(text)-3:]}, parts...)
		text = text[:len(text)-3]
	}
	return strings.Join(append([]string{text}, parts...), ",")
}
