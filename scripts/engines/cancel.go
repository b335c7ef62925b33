package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// cancels hangs up in each phase of a turn, and measures how long the engine
// then goes on.
func cancels(ctx context.Context, l *lab, s *sheet) error {
	w, err := l.worker(ctx, "w0")
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what   string
		play   func(context.Context, *lab, snapshot.Worker) (time.Duration, string, error)
		within time.Duration
	}{
		{"while it decodes", hangUpDecode, 2 * time.Second},
		{"not streamed", hangUpDocument, 2 * time.Second},
		{"in its prompt", hangUpPrefill, 15 * time.Second}, // a step of its prompt, which is long on a CPU
		{"queued", hangUpQueued, 2 * time.Second},
	} {
		if err := l.settle(ctx); err != nil {
			return err
		}
		what := fmt.Sprintf("client hangs up %s: until nothing runs, within %d s", c.what, int(c.within.Seconds()))
		s.try(l.k.name, what, func() error {
			took, seen, err := c.play(ctx, l, w)
			if err == nil {
				s.within(l.k.name, what, took, c.within, "%s", seen)
			}
			return err
		})
	}
	return nil
}

// gone measures from a hang-up until the engine is idle, and checks that it
// did not go on to the end.
func gone(ctx context.Context, l *lab, w snapshot.Worker, since time.Time, before counters, most int) (time.Duration, string, error) {
	if !l.k.quiet { // what it counts as running, it tells when a step is over: so one more has to be
		if _, err := l.complete(ctx, w, map[string]any{"prompt": "Hi", "max_tokens": 1}); err != nil {
			return 0, "", err
		}
		most++
	}
	at, err := l.idle(ctx, w)
	if err != nil {
		return 0, "", err
	}
	after, err := l.counters(ctx, w)
	if err != nil {
		return 0, "", err
	}
	made, took := after.output-before.output, max(at.Sub(since), 0)
	text := fmt.Sprintf("%d ms", took.Milliseconds())
	if made >= most {
		return 0, "", fmt.Errorf("%s, but the engine made all its %d tokens", text, most)
	}
	return took, text, nil
}

// hangUpDecode closes a stream after some pieces.
func hangUpDecode(ctx context.Context, l *lab, w snapshot.Worker) (time.Duration, string, error) {
	before, err := l.counters(ctx, w)
	if err != nil {
		return 0, "", err
	}
	t := l.talk("cancel-decode", 60).at(w.Name).say("Tell a long story.")
	t.full = true
	turn, hangUp := context.WithCancel(ctx)
	defer hangUp()
	pieces := 0
	var since time.Time
	_, err = t.stream(turn, 800, func(string) {
		if pieces++; pieces == 5 {
			since = time.Now()
			hangUp()
		}
	})
	if since.IsZero() {
		return 0, "", fmt.Errorf("it ended after %d pieces: %w", pieces, err)
	}
	return gone(ctx, l, w, since, before, 800)
}

// hangUpDocument closes a request for a document while it is computed.
func hangUpDocument(ctx context.Context, l *lab, w snapshot.Worker) (time.Duration, string, error) {
	before, err := l.counters(ctx, w)
	if err != nil {
		return 0, "", err
	}
	t := l.talk("cancel-document", 20).at(w.Name).say("Tell a long story.")
	t.full = true
	return l.hangUp(ctx, w, t.head, t.body(800, false), before, 800)
}

// hangUpPrefill closes a request while its prompt is computed.
func hangUpPrefill(ctx context.Context, l *lab, w snapshot.Worker) (time.Duration, string, error) {
	before, err := l.counters(ctx, w)
	if err != nil {
		return 0, "", err
	}
	t := l.talk("cancel-prefill", l.k.context*6/10).at(w.Name).say("Say hello.")
	t.full = true
	return l.hangUp(ctx, w, t.head, t.body(40, true), before, 1)
}

// busy is how much CPU time an engine uses, in hundredths of a second, before a
// request is closed that is computed: what is said of it is told too late, at
// the end of a step.
const busy = 40

// hangUp sends a request, waits until the engine computes, and closes it.
func (l *lab) hangUp(ctx context.Context, w snapshot.Worker, head map[string]string, body any, before counters, most int) (time.Duration, string, error) {
	turn, hangUp := context.WithCancel(ctx)
	defer hangUp()
	ended := make(chan error, 1)
	go func() {
		resp, err := l.ask(turn, "/v1/chat/completions", head, body)
		if err == nil {
			buf := make([]byte, 1)
			_, err = resp.Body.Read(buf)
			resp.Body.Close()
		}
		ended <- err
	}()
	for used := ticks(w.PID); ticks(w.PID)-used < busy; {
		select {
		case err := <-ended:
			return 0, "", errors.Join(errors.New("it was answered before it could be closed"), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	since := time.Now()
	hangUp()
	return gone(ctx, l, w, since, before, most)
}

// hangUpQueued closes a turn that waits at the router, which holds it back
// while the worker is full.
func hangUpQueued(ctx context.Context, l *lab, w snapshot.Worker) (time.Duration, string, error) {
	running, end := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer end()
	for range w.Slots {
		begun := make(chan struct{})
		t := l.talk("cancel-full", 20).at(w.Name).say("Tell a long story.")
		t.full = true
		all.Go(func() {
			var once sync.Once
			t.stream(running, 1500, func(string) { once.Do(func() { close(begun) }) })
		})
		select {
		case <-begun:
		case <-ctx.Done():
			return 0, "", fmt.Errorf("a turn that shall fill the worker gets no token: %w", ctx.Err())
		}
	}
	turn, hangUp := context.WithCancel(ctx)
	defer hangUp()
	t := l.talk("cancel-queued", 20).at(w.Name).say("Say hello.")
	failed := make(chan error, 1)
	go func() { _, err := t.stream(turn, 8, nil); failed <- err }()
	if err := l.queue(ctx, 1); err != nil {
		return 0, "", err
	}
	since := time.Now()
	hangUp()
	<-failed
	if err := l.queue(ctx, 0); err != nil {
		return 0, "", err
	}
	took := time.Since(since)
	own, err := l.turns(ctx, t.session, 1)
	if err != nil {
		return 0, "", err
	}
	if own[0].Outcome != "cancel" || own[0].Output > 0 {
		return 0, "", fmt.Errorf("the ledger has %s with %d tokens", own[0].Outcome, own[0].Output)
	}
	return took, fmt.Sprintf("%d ms until it has left dyn's queue (two runs of `dyn top` among it); the engine never saw it", took.Milliseconds()), nil
}

// queue waits until so many turns wait at the router.
func (l *lab) queue(ctx context.Context, depth int) error {
	for {
		out, err := l.dyn(ctx, "top", "--once", "--json")
		if err != nil {
			return err
		}
		var doc struct{ Queue snapshot.Queue }
		if err := json.Unmarshal(out, &doc); err != nil {
			return err
		}
		if doc.Queue.Waiting == depth {
			return nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%d turns wait, not %d: %w", doc.Queue.Waiting, depth, err)
		}
	}
}
