package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/replay/trace"
)

// keep is a file of runs, one a line.
type keep struct {
	trace  string
	file   *os.File
	runs   map[string]*replay.Result
	staged map[string]*replay.Staged
	speeds map[string]float64
}

// line is a run of the file: a result, what came of a load in stages, or turns
// a minute.
type line struct {
	Key    string         `json:"key"`
	Result *replay.Result `json:"result,omitempty"`
	Staged *replay.Staged `json:"staged,omitempty"`
	Speed  float64        `json:"turns_per_min,omitempty"`
}

// openKeep reads what the file has. A last line that was cut off is passed by.
func openKeep(path, trace string) (*keep, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	k := &keep{trace: trace, file: f, runs: map[string]*replay.Result{}, staged: map[string]*replay.Staged{}, speeds: map[string]float64{}}
	for s := bufio.NewScanner(f); s.Scan(); {
		var l line
		if json.Unmarshal(s.Bytes(), &l) == nil {
			k.note(l)
		}
	}
	return k, nil
}

func (k *keep) close() error { return k.file.Close() }

// of another trace are runs of the same file.
func (k *keep) of(trace string) *keep {
	o := *k
	o.trace = trace
	return &o
}

// note takes a line in.
func (k *keep) note(l line) {
	switch {
	case l.Result != nil:
		k.runs[l.Key] = l.Result
	case l.Staged != nil:
		k.staged[l.Key] = l.Staged
	case l.Speed > 0:
		k.speeds[l.Key] = l.Speed
	}
}

// write adds a line to the file.
func (k *keep) write(l line) error {
	b, err := json.Marshal(l)
	if err == nil {
		_, err = k.file.Write(append(b, '\n'))
	}
	k.note(l)
	return err
}

// key tells runs apart.
func (k *keep) key(c replay.Config) string {
	believed := ""
	if c.Believed != nil {
		believed = fmt.Sprintf("%g/%g", c.Believed.Token, c.Believed.Context)
	}
	apart := ""
	if c.Gate != "" {
		apart += " gate=" + string(c.Gate)
	}
	if c.Foresees {
		apart += " foresees"
	}
	if c.Warm > 0 {
		apart += " warm=" + c.Warm.String()
	}
	if c.Engine != "" || c.Block != 0 {
		apart += fmt.Sprintf(" engine=%s block=%d", c.Engine, c.Block)
	}
	return fmt.Sprintf("%s %s seed=%d sessions=%d workers=%d kv=%d measure=%s lag=%s believed=%s%s",
		k.trace, c.Strategy, c.Seed, c.Sessions, c.Workers, c.KV, c.Measure, c.Lag, believed, apart)
}

// run is the result of a run, nil when it was not made.
func (k *keep) run(c replay.Config) *replay.Result { return k.runs[k.key(c)] }

// play makes the runs that the file lacks.
func (k *keep) play(ctx context.Context, t *trace.Trace, runs []replay.Config, jobs int) error {
	var todo []replay.Config
	for _, c := range runs {
		if k.run(c) == nil {
			todo = append(todo, c)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	var failed error
	began := time.Now()
	_, err := replay.Compare(ctx, t, todo, jobs, func(i int, r *replay.Result) {
		key := k.key(todo[i])
		failed = errors.Join(failed, k.write(line{Key: key, Result: r}))
		fmt.Fprintf(os.Stderr, "%6.0fs %s: %.2f turns/s, hit %.3f, TTFT %.0f ms\n", time.Since(began).Seconds(), key, r.PerSecond, r.Hit, r.TTFTMean)
	})
	return errors.Join(err, failed)
}
