package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/engine/port"
	"github.com/agentinfer/dyn/turn"
)

// Start launches a worker and returns when it has given a real token. The
// error is a *turn.Fault: when the process ended or gave no token in time, Why
// holds its last log lines; nothing is left running then. ctx covers the wait
// only: when it ends first, the worker is stopped again.
func (f *Fleet) Start(ctx context.Context, s Spec) (*Worker, error) {
	op := strings.TrimSpace("start worker " + s.Name)
	a, err := f.adapter(s.Recipe.Engine)
	if err != nil {
		return nil, &turn.Fault{Op: op, Err: err}
	}
	if kind := s.Recipe.Engine; s.Recipe.UsesEngine() && len(s.Program) == 0 {
		return nil, &turn.Fault{Op: op, Err: errors.New("no program for " + kind), Try: "dyn engine install " + kind}
	}
	if _, _, err := f.launchOf(a, s, s.Name, f.place(0)); err != nil {
		return nil, &turn.Fault{Op: op, Err: err}
	}
	if f.o.Logs == "" {
		return nil, &turn.Fault{Op: op, Err: errors.New("no folder for its log")}
	}
	w := newWorker(f)
	w.gpus = slices.Clone(s.GPUs)
	w.adviser, _ = a.(Adviser)
	w.caps.Model = s.Recipe.Model
	alive, halt := context.WithCancel(f.ctx)
	w.halt = halt
	if err := f.add(w, s.Name); err != nil {
		halt()
		return nil, &turn.Fault{Op: op, Err: err}
	}
	f.changed(w)
	go w.supervise(alive, s, a)

	wait, cancel := context.WithTimeoutCause(ctx, f.o.StartLimit,
		fmt.Errorf("%w in %v", ErrNotReady, f.o.StartLimit))
	defer cancel()
	info, err := w.await(wait, func(i turn.WorkerInfo) bool {
		return i.State == turn.Ready || i.State == turn.Gone
	})
	if err == nil && info.State == turn.Ready {
		return w, nil
	}
	if err == nil {
		err = w.failed()
	}
	fault := w.fault("start", err)
	w.stop()
	f.drop(w)
	return nil, fault
}

// Plan is the command line that Start would run, with port and key left open.
func (f *Fleet) Plan(s Spec) ([]string, error) {
	a, err := f.adapter(s.Recipe.Engine)
	if err != nil {
		return nil, err
	}
	at := f.place(0)
	at.Key, at.Events = "…", "tcp://127.0.0.1:0"
	l, _, err := f.launchOf(a, s, s.Name, at)
	return l.Args, err
}

// place chooses what one life of a worker needs; port 0 is none yet.
func (f *Fleet) place(port int) Place {
	key := make([]byte, 16)
	_, _ = rand.Read(key) // never fails
	return Place{Self: f.o.Self, Port: port, Key: hex.EncodeToString(key)}
}

// freePort finds a port on loopback that nobody listens on, and that no other
// worker was given and may not listen on yet.
func (f *Fleet) freePort(w *Worker) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		p, err := port.Free()
		if err != nil {
			return 0, err
		}
		if !slices.ContainsFunc(f.workers, func(o *Worker) bool { return o != w && o.port == p }) {
			w.port = p
			return p, nil
		}
	}
}

// failed is why the worker is Gone.
func (w *Worker) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure == nil {
		return errors.New("it was stopped")
	}
	return w.failure
}

// fault makes an error about this worker that a person can act on.
func (w *Worker) fault(op string, err error) *turn.Fault {
	f := &turn.Fault{Op: op + " worker " + w.name, Err: err}
	if w.log == "" {
		return f
	}
	lines := w.words()
	f.Why = strings.Join(blame(lines, 5), "\n")
	f.Try = cmp.Or(w.advice(lines).Try, "dyn logs "+w.name)
	return f
}

// words are the last ones of its present life, without its keys.
func (w *Worker) words() []string {
	w.mu.Lock()
	from, secrets := w.logFrom, w.secrets
	w.mu.Unlock()
	return redact(tail(w.log, from, 200), secrets)
}

// advice is what its adapter makes of its last words.
func (w *Worker) advice(lines []string) Advice {
	if w.adviser == nil {
		return Advice{}
	}
	return w.adviser.Advise(lines)
}
