package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/replay/trace"
)

// keep is a file of runs, one a line.
type keep struct {
	file *os.File
	runs map[string]*replay.Result
}

// line is a run of the file.
type line struct {
	Key    string         `json:"key"`
	Result *replay.Result `json:"result"`
}

// openKeep reads what the file has. A last line that was cut off is passed by.
func openKeep(path string) (*keep, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	k := &keep{file: f, runs: map[string]*replay.Result{}}
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
func (c *cell) key(o *options) string {
	return fmt.Sprintf("%s %.2fx seed %d part %g lag %s: %s", c.fleet.name, c.size, c.seed, o.part, o.lag, c.row.name)
}

// play makes the runs that the file lacks.
func (k *keep) play(ctx context.Context, t *trace.Trace, o *options, cells []cell) error {
	var todo []replay.Config
	var keys []string
	for i := range cells {
		c := &cells[i]
		if key := c.key(o); k.runs[key] == nil {
			todo, keys = append(todo, o.config(c.fleet, c.row, c.size, c.seed)), append(keys, key)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	var failed error
	_, err := replay.Compare(ctx, t, todo, o.jobs, func(i int, r *replay.Result) {
		b, err := json.Marshal(line{keys[i], r})
		if err == nil {
			_, err = k.file.Write(append(b, '\n'))
		}
		failed = errors.Join(failed, err)
		k.runs[keys[i]] = r
		fmt.Fprintf(os.Stderr, "%-60s %.2f turns/s, hit %.4f, TTFT %.2f s (%.2f / %.2f), kept %.3f / %.3f, age %.0f s, %d touches (%.2fM, %.3fM computed), %d held, %.1f s\n", keys[i], r.PerSecond, r.Hit,
			r.TTFTMean/1000, r.Leased.TTFTMean/1000, r.Unleased.TTFTMean/1000, r.Leased.Kept, r.Unleased.Kept, r.EvictionAge, r.Touches, float64(r.Touched)/1e6, float64(r.Charged)/1e6, r.Held, r.Wall)
	})
	return errors.Join(err, failed)
}
