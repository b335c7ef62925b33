package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/engine/keep"
	"github.com/agentinfer/dyn/ledger/snapshot"
)

// counters are what an engine says of itself.
type counters struct {
	running, waiting         int
	computed, cached, output int // tokens since its start
}

func (c counters) minus(d counters) counters {
	return counters{c.running, c.waiting, c.computed - d.computed, c.cached - d.cached, c.output - d.output}
}

// secret is the key of a worker's engine, out of its run file.
func (l *lab) secret(worker string) (string, error) {
	r, err := keep.Read(keep.Path(filepath.Join(l.dir, "state/dyn/run"), worker))
	return r.Key, err
}

// counters asks a worker's engine itself.
func (l *lab) counters(ctx context.Context, w snapshot.Worker) (c counters, err error) {
	key, err := l.secret(w.Name)
	if err != nil {
		return c, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+"/metrics", nil)
	if err != nil {
		return c, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return c, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c, fmt.Errorf("metrics of %s: %s", w.Name, resp.Status)
	}
	n := l.k.names
	into := map[string]*int{n.running: &c.running, n.waiting: &c.waiting, n.computed: &c.computed, n.cached: &c.cached, n.output: &c.output}
	seen := 0
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value := sample(lines.Text())
		if to := into[name]; to != nil {
			f, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return c, fmt.Errorf("metrics of %s: %q", w.Name, lines.Text())
			}
			*to += int(f)
			seen++
		}
	}
	if seen < len(into) {
		return c, fmt.Errorf("metrics of %s: %d of %d figures are there", w.Name, seen, len(into))
	}
	return c, lines.Err()
}

// sample splits a line of metrics into its name, with the source that a label
// tells, and its value.
func sample(line string) (name, value string) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 || strings.HasPrefix(line, "#") {
		return "", ""
	}
	name, labels, _ := strings.Cut(line[:at], "{")
	if _, rest, ok := strings.Cut(labels, `source="`); ok {
		source, _, _ := strings.Cut(rest, `"`)
		name += " " + source
	}
	return name, line[at+1:]
}

// all are the counters of both workers, by name.
func (l *lab) all(ctx context.Context) (map[string]counters, error) {
	ws, err := l.workers(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]counters{}
	for _, w := range ws {
		if out[w.Name], err = l.counters(ctx, w); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// each gives the fields of every process of a group to do, those after its name,
// with its number and its name.
func each(group int, do func(pid int, name string, fields []string)) {
	paths, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is good
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		head, rest, _ := strings.Cut(string(data), ") ")
		f := strings.Fields(rest)
		number, name, _ := strings.Cut(head, " (")
		if pid, err := strconv.Atoi(number); err == nil && len(f) > 12 && f[2] == strconv.Itoa(group) {
			do(pid, name, f)
		}
	}
}

// ticks is the CPU time that the processes of a group have used, in hundredths
// of a second.
func ticks(group int) (n int) {
	each(group, func(_ int, _ string, f []string) {
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		n += user + system
	})
	return n
}

// calm is how long an engine must use no CPU to be taken for idle: longer than
// it waits for its turn on a busy machine, and less than dyn waits between two
// looks at its load.
const calm = 700 * time.Millisecond

// idle waits until a worker's engine computes nothing, by its own count, and
// returns since when. Of one that must not be asked its CPU time tells when.
func (l *lab) idle(ctx context.Context, w snapshot.Worker) (time.Time, error) {
	for {
		since := time.Now()
		if l.k.quiet {
			var err error
			if since, err = still(ctx, w.PID); err != nil {
				return since, err
			}
		}
		c, err := l.counters(ctx, w)
		if err != nil || c.running+c.waiting == 0 {
			return since, err
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return since, fmt.Errorf("%s still computes: %w", w.Name, err)
		}
	}
}

// still waits until an engine uses no CPU for a while, and returns since when.
func still(ctx context.Context, group int) (time.Time, error) {
	last, since := ticks(group), time.Now()
	for time.Since(since) < calm {
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return since, fmt.Errorf("it still uses the CPU: %w", err)
		}
		if now := ticks(group); now > last+1 { // to be asked for its load costs it one
			last, since = now, time.Now()
		}
	}
	return since, nil
}

// memory is what the workers' processes use, in gigabytes: their own, and of
// what they share their part.
func memory(ws []snapshot.Worker) float64 {
	kb := 0
	for _, w := range ws {
		each(w.PID, func(pid int, _ string, _ []string) {
			roll, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
			if err != nil {
				return // it ended
			}
			for line := range strings.Lines(string(roll)) {
				if value, ok := strings.CutPrefix(line, "Pss:"); ok {
					n, _ := strconv.Atoi(strings.Fields(value)[0])
					kb += n
				}
			}
		})
	}
	return float64(kb) / 1e6
}
