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
	trace string
	file  *os.File
	runs  map[string]*replay.Result
}

// line is a run of the file.
type line struct {
	Key    string         `json:"key"`
	Result *replay.Result `json:"result"`
}

// openKeep reads what the file has. A last line that was cut off is passed by.
func openKeep(path, trace string) (*keep, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	k := &keep{trace: trace, file: f, runs: map[string]*replay.Result{}}
	for s := bufio.NewScanner(f); s.Scan(); {
		var l line
		if json.Unmarshal(s.Bytes(), &l) == nil && l.Result != nil {
			k.runs[l.Key] = l.Result
		}
	}
	return k, nil
}

func (k *keep) close() error { return k.file.Close() }

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
	return fmt.Sprintf("%s %s seed=%d sessions=%d workers=%d kv=%d measure=%s lag=%s believed=%s%s",
		k.trace, c.Strategy, c.Seed, c.Sessions, c.Workers, c.KV, c.Measure, c.Lag, believed, apart)
}

// of is the result of a run, nil when it was not made.
func (k *keep) of(c replay.Config) *replay.Result { return k.runs[k.key(c)] }

// play makes the runs that the file lacks.
func (k *keep) play(ctx context.Context, t *trace.Trace, runs []replay.Config, jobs int) error {
	var todo []replay.Config
	for _, c := range runs {
		if k.of(c) == nil {
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
		b, err := json.Marshal(line{key, r})
		if err == nil {
			_, err = k.file.Write(append(b, '\n'))
		}
		failed = errors.Join(failed, err)
		k.runs[key] = r
		fmt.Fprintf(os.Stderr, "%6.0fs %s: %.2f turns/s, hit %.3f, TTFT %.0f ms\n", time.Since(began).Seconds(), key, r.PerSecond, r.Hit, r.TTFTMean)
	})
	return errors.Join(err, failed)
}
