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
	const tokens = 200
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
		if pieces < 20 {
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

// adopted waits until a daemon shows workers as its own that another started,
// and returns how long that took; 0 is that it never did.
func (l *lab) adopted(ctx context.Context, before []snapshot.Worker) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	began := time.Now()
	for {
		after, err := l.workers(ctx) // an error while no daemon runs
		same := err == nil && len(after) == len(before)
		for i := range after {
			same = same && after[i].PID == before[i].PID && after[i].Adopted
		}
		if same {
			return time.Since(began)
		}
		if pause(ctx, 50*time.Millisecond) != nil {
			return 0
		}
	}
}

// daemonKilled kills the daemon under load; the next takes the engines over,
// with what they hold.
func daemonKilled(ctx context.Context, l *lab, s *sheet) error {
	var talks []*talk
	for i := range 4 {
		t := l.talk("adopt", 150).at(fmt.Sprint("w", i%2)).say("Say hello.")
		if _, err := t.answer(ctx, 8); err != nil {
			return err
		}
		if _, err := l.turns(ctx, t.session, 1); err != nil { // the ledger may lose a second
			return err
		}
		t.anywhere()
		talks = append(talks, t)
	}
	before, err := l.workers(ctx)
	if err != nil {
		return err
	}
	var doc struct{ Daemon snapshot.Daemon }
	if err := l.json(ctx, &doc, "ps"); err != nil {
		return err
	}
	busy := l.talk("cut", 20).say("Tell a long story.")
	busy.full = true
	cut := make(chan error, 1)
	var once sync.Once
	go func() {
		_, err := busy.stream(ctx, 400, func(string) { once.Do(func() { syscall.Kill(doc.Daemon.PID, syscall.SIGKILL) }) })
		cut <- err
	}()
	if err := <-cut; err == nil {
		return errors.New("the turn that was running ended as if nothing had happened")
	}
	seen := make(chan time.Duration, 1)
	go func() { seen <- l.adopted(ctx, before) }()
	took, err := l.up(ctx)
	if err != nil {
		return err
	}
	known := <-seen
	const what = "`kill -9` of the daemon under load, then `dyn up`: the same engines within 2 s"
	if known <= 0 {
		s.check(l.k.name, what, false, "they are not the same; ready after %d ms", took.Milliseconds())
		return nil
	}
	s.within(l.k.name, what, known, 2*time.Second, "known again after %d ms, ready after %d ms", known.Milliseconds(), took.Milliseconds())
	var parts []string
	right := true
	for _, t := range talks {
		r, err := t.say("And again.").answer(ctx, 8)
		if err != nil {
			return err
		}
		own, err := l.turns(ctx, t.session, 2)
		if err != nil {
			return err
		}
		again := own[1].Prompt - own[1].Cached - (own[1].Prompt - own[0].Prompt - own[0].Output)
		right = right && r.usage.Details.Cached > 0 && own[0].Worker == own[1].Worker && again <= l.k.block
		parts = append(parts, fmt.Sprintf("%d of %d on %s (%d again)", own[1].Cached, own[1].Prompt, own[1].Worker, max(again, 0)))
	}
	s.check(l.k.name, "… cached tokens of the next turns of its conversations", right, "%s", strings.Join(parts, ", "))
	return nil
}
