package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// drain drains a worker with a turn on it, and starts it anew.
func drain(ctx context.Context, l *lab, s *sheet) error {
	w, err := l.worker(ctx, "w0")
	if err != nil {
		return err
	}
	t := l.talk("drain", 20).at("w0").say("Tell a long story.")
	t.full = true
	begun, ended := make(chan struct{}), make(chan error, 1)
	var r reply
	go func() {
		var once sync.Once
		var err error
		r, err = t.stream(ctx, 200, func(string) { once.Do(func() { close(begun) }) })
		ended <- err
	}()
	select {
	case <-begun:
	case err := <-ended:
		return fmt.Errorf("no token came: %w", err)
	}
	since := time.Now()
	drained := make(chan error, 1)
	go func() { _, err := l.dyn(ctx, "drain", "w0"); drained <- err }()
	if err := l.until(ctx, "w0", func(w snapshot.Worker) bool { return w.State != "ready" }); err != nil {
		return err
	}
	other := l.talk("beside", 20).say("Say hello.")
	if _, err := other.answer(ctx, 8); err != nil {
		return fmt.Errorf("a turn while w0 drains: %w", err)
	}
	if err := errors.Join(<-ended, <-drained); err != nil {
		return err
	}
	took := time.Since(since)
	beside, err := l.turns(ctx, other.session, 1)
	if err != nil {
		return err
	}
	s.check(l.k.name, "`dyn drain` with a turn on it", r.usage.Output == 200 && beside[0].Worker == "w1",
		"drained after %.1f s; the turn had all its 200 tokens (%d), a new one went to %s", took.Seconds(), r.usage.Output, beside[0].Worker)
	since = time.Now()
	if _, err := l.dyn(ctx, "restart", "w0"); err != nil {
		return err
	}
	took = time.Since(since)
	now, err := l.worker(ctx, "w0")
	if err != nil {
		return err
	}
	s.check(l.k.name, "`dyn restart`", now.PID != w.PID && now.State == "ready", "%.1f s until it gave a token; %s", took.Seconds(), now.State)
	return nil
}

// until waits for a worker to be so.
func (l *lab) until(ctx context.Context, name string, so func(snapshot.Worker) bool) error {
	for {
		w, err := l.worker(ctx, name)
		if err != nil {
			return err
		}
		if so(w) {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("%s is %s: %w", name, w.State, err)
		}
	}
}

// engineKilled kills an engine in mid-stream; of vLLM also the process behind
// the one that serves.
func engineKilled(ctx context.Context, l *lab, s *sheet) error {
	if err := killed(ctx, l, s, "`kill -9` of an engine in mid-stream", func(w snapshot.Worker) (int, error) { return w.PID, nil }); err != nil {
		return err
	}
	if l.k.name != "vllm" {
		return nil
	}
	if err := l.settle(ctx); err != nil {
		return err
	}
	return killed(ctx, l, s, "`kill -9` of its EngineCore in mid-stream", func(w snapshot.Worker) (int, error) { return child(w.PID, "VLLM::EngineCor") })
}

// killed kills what victim says while a turn runs there: the turn must go on
// at the other worker, and the engine must come back.
func killed(ctx context.Context, l *lab, s *sheet, what string, victim func(snapshot.Worker) (int, error)) error {
	const tokens = 400
	t := l.talk("kill", 40).say("Tell a long story.")
	t.full = true
	var once sync.Once
	var fault error
	var name string
	var gap time.Duration
	var since time.Time
	pieces, last := 0, time.Now()
	r, err := t.stream(ctx, tokens, func(string) {
		pieces++
		if !since.IsZero() {
			gap = max(gap, time.Since(last))
		}
		last = time.Now()
		if pieces < 5 {
			return
		}
		once.Do(func() {
			ws, err := l.workers(ctx)
			for _, w := range ws {
				if w.InFlight > 0 {
					pid := 0
					if pid, err = victim(w); err == nil {
						name, err = w.Name, syscall.Kill(pid, syscall.SIGKILL)
					}
				}
			}
			fault, since, last = err, time.Now(), time.Now()
		})
	})
	switch {
	case fault != nil:
		return fault
	case err != nil:
		return err
	case name == "":
		return errors.New("no worker had a turn in flight to kill")
	}
	own, err := l.turns(ctx, t.session, 1)
	if err != nil {
		return err
	}
	s.check(l.k.name, what, own[0].Moved > 0 && own[0].Worker != name && r.usage.Output == tokens,
		"%s is killed; the turn goes on at %s after %d ms and has %d of its %d tokens", name, own[0].Worker, gap.Milliseconds(), r.usage.Output, tokens)
	if err := l.settle(ctx); err != nil {
		return err
	}
	w, err := l.worker(ctx, name)
	if err != nil {
		return err
	}
	s.check(l.k.name, "… it comes back", w.Restarts > 0, "ready %.1f s after the kill, started anew %d times", w.Since.Sub(since).Seconds(), w.Restarts)
	return nil
}

// child is a process of a process group by the beginning of its name.
func child(group int, name string) (pid int, err error) {
	err = fmt.Errorf("no process %s in group %d", name, group)
	each(group, func(n int, is string, _ []string) {
		if strings.HasPrefix(is, name) {
			pid, err = n, nil
		}
	})
	return pid, err
}
