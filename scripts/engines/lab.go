package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/ledger/snapshot"
)

// lab is a daemon with folders of its own, and two workers of a kind.
type lab struct {
	o       options
	k       *kind
	dir     string // its state and configuration, new for each run
	recipe  string
	version string
	url     string
	key     string // that clients send; "" without keys
	talks   int    // conversations so far, for names
}

// newLab makes one that does not run yet.
func newLab(o options, k *kind) *lab {
	return &lab{o: o, k: k, dir: filepath.Join(o.work, "run-"+k.name)}
}

// env is the environment of dyn: engines and models are kept, all else is the
// lab's own.
func (l *lab) env() []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "XDG_") || strings.HasPrefix(e, "DYN_")
	})
	return append(env,
		"XDG_DATA_HOME="+filepath.Join(l.o.work, "data"), "XDG_CACHE_HOME="+filepath.Join(l.o.work, "cache"),
		"XDG_STATE_HOME="+filepath.Join(l.dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(l.dir, "config"))
}

// dyn runs a command to its end and returns what it printed.
func (l *lab) dyn(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, l.o.dyn, args...)
	cmd.Env = l.env()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil {
		return nil, fmt.Errorf("dyn %s: %w: %s", strings.Join(args, " "), err, tail(errs.Bytes()))
	}
	return out.Bytes(), nil
}

// json runs a command with --json and reads what it printed.
func (l *lab) json(ctx context.Context, into any, args ...string) error {
	out, err := l.dyn(ctx, append(args, "--json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("dyn %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// begin starts daemon and workers, from nothing.
func (l *lab) begin(ctx context.Context, s *sheet) error {
	l.down()
	if err := os.RemoveAll(l.dir); err != nil {
		return err
	}
	took, err := l.up(ctx)
	if err != nil {
		return err
	}
	ws, err := l.workers(ctx)
	if err != nil {
		return err
	}
	s.check(l.k.name, "`dyn up --workers 2`: both gave a token", len(ws) == 2, "%.1f s; %.2f GB of memory", took.Seconds(), memory(ws))
	return nil
}

// up starts the daemon, and the workers that do not run. It tells how long that
// took.
func (l *lab) up(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	if _, err := l.dyn(ctx, "up", l.recipe, "--workers", "2", "--port", "0", "--max-num-seqs", "2"); err != nil {
		return 0, err
	}
	took := time.Since(began)
	var doc struct{ Daemon snapshot.Daemon }
	err := l.json(ctx, &doc, "ps")
	l.url = doc.Daemon.URL
	return took, err
}

// down ends what runs; where nothing does that is fine too.
func (l *lab) down() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if _, err := os.Stat(l.dir); err != nil {
		return
	}
	if _, err := l.dyn(ctx, "down", "--now"); err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
	}
}

// workers are those that dyn ps shows.
func (l *lab) workers(ctx context.Context) ([]snapshot.Worker, error) {
	var doc struct{ Workers []snapshot.Worker }
	out, err := l.dyn(ctx, "top", "--once", "--json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return nil, fmt.Errorf("dyn top: %w", err)
	}
	return doc.Workers, nil
}

// worker is the one of that name.
func (l *lab) worker(ctx context.Context, name string) (snapshot.Worker, error) {
	ws, err := l.workers(ctx)
	for _, w := range ws {
		if w.Name == name {
			return w, nil
		}
	}
	return snapshot.Worker{}, errors.Join(err, fmt.Errorf("there is no worker %s", name))
}

// settle waits until both workers are ready and compute nothing.
func (l *lab) settle(ctx context.Context) error {
	for {
		ws, err := l.workers(ctx)
		if err != nil {
			return err
		}
		quiet := len(ws) == 2
		for _, w := range ws {
			quiet = quiet && w.State == "ready" && w.InFlight == 0
		}
		if quiet {
			return nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return fmt.Errorf("workers do not get ready: %w: %s", err, states(ws))
		}
	}
}

// states says how workers are.
func states(ws []snapshot.Worker) string {
	var all []string
	for _, w := range ws {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s, %d in flight %s", w.Name, w.State, w.InFlight, w.Why)))
	}
	return strings.Join(all, "; ")
}

// turns are the rows of the ledger of one session, oldest first; it waits for
// as many turns that ended as are named, since the ledger may trail by a second.
func (l *lab) turns(ctx context.Context, session string, n int) ([]ledger.Turn, error) {
	all, err := l.ledger(ctx, []string{session}, n)
	return all[session], err
}

// ledger is turns of several sessions, by session.
func (l *lab) ledger(ctx context.Context, sessions []string, n int) (map[string][]ledger.Turn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		var doc struct{ Turns []ledger.Turn }
		if err := l.json(ctx, &doc, "stats", "--turns"); err != nil {
			return nil, err
		}
		all := map[string][]ledger.Turn{}
		slices.SortStableFunc(doc.Turns, func(a, b ledger.Turn) int { return a.At.Compare(b.At) })
		for _, t := range doc.Turns {
			if t.TotalMS > 0 {
				all[t.Session] = append(all[t.Session], t)
			}
		}
		behind := slices.IndexFunc(sessions, func(name string) bool { return len(all[name]) < n })
		if behind < 0 {
			return all, nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return nil, fmt.Errorf("session %s has %d rows in the ledger, want %d: %w", sessions[behind], len(all[sessions[behind]]), n, err)
		}
	}
}

// pause waits a moment between two looks.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// gguf is the model file that `dyn up tiny` fetches.
func (l *lab) gguf(ctx context.Context) (string, error) {
	find := func() string {
		var found string
		filepath.WalkDir(filepath.Join(l.o.work, "cache/dyn/models"), func(path string, _ os.DirEntry, _ error) error {
			if strings.HasSuffix(path, ".gguf") {
				found = path
			}
			return nil
		})
		return found
	}
	if path := find(); path != "" {
		return path, nil
	}
	other := newLab(l.o, &kind{name: "fetch"})
	defer other.down()
	if _, err := other.dyn(ctx, "up", "tiny", "--yes", "--port", "0"); err != nil {
		return "", err
	}
	if path := find(); path != "" {
		return path, nil
	}
	return "", errors.New("dyn up tiny has fetched no .gguf file")
}

// python is the program that vLLM was installed for.
func (l *lab) python(ctx context.Context) (string, error) {
	var doc struct {
		Engines []struct {
			Engine  string
			Command []string
		}
	}
	if err := l.json(ctx, &doc, "engine", "ls"); err != nil {
		return "", err
	}
	for _, e := range doc.Engines {
		if e.Engine == "vllm" && len(e.Command) > 0 {
			return e.Command[0], nil
		}
	}
	return "", errors.New("dyn engine ls has no vllm")
}

// ask sends a document to the daemon and reads what comes back.
func (l *lab) ask(ctx context.Context, path string, head map[string]string, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if l.key != "" {
		req.Header.Set("Authorization", "Bearer "+l.key)
	}
	for name, value := range head {
		req.Header.Set(name, value)
	}
	return http.DefaultClient.Do(req)
}
