package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// How long one look at a server may take, how often health is asked, how many
// looks in a row may fail before a server counts as down, and how long a launched worker may be down for
// silence before its process is killed. The kill is far off, since a server
// that only swallows a large request loses its loaded weights with it.
const (
	healthLimit  = 2 * time.Second
	probeLimit   = 2 * time.Minute
	healthEvery  = 5 // looks, while the metrics come
	missLimit    = 3
	silenceLimit = time.Minute
	syncLimit    = 5 * time.Second
)

// usualBlock is the block size of an engine that does not tell: what its index
// counts in, when no events say otherwise. What is in it is then a guess, and
// one in smaller blocks costs each turn more to keep than it helps to know: 64
// tokens are a few milliseconds of prefill.
const usualBlock = 64

// serve makes a server that gave a token a ready worker, and watches it until
// ctx ends or it falls silent. It returns why.
func (w *Worker) serve(ctx context.Context, c Client, seen Seen, in *inbox) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var reader sync.WaitGroup
	defer func() {
		cancel(nil)
		reader.Wait()
		w.fleet.kv(restartBatch(w.name))
	}()
	if seen.Caps.BlockSize == 0 {
		seen.Caps.BlockSize = usualBlock
	}
	w.change(func() { w.caps = seen.Caps }) // known before the first KV batch, which needs the block size
	f := newFeed(w, seen, in)
	if r, ok := c.(Relearner); ok {
		f.relearn = r.Relearn
	}
	reader.Go(func() { w.learn(ctx, c, f) })
	w.verify(ctx, c)
	select { // with the cache's content known, the first turns are routed well
	case <-f.synced:
	case <-time.After(syncLimit):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	kind := EventReady
	if w.Info().Restarts > 0 && !w.attached {
		kind = EventRestarted
	}
	w.fleet.tell(w, kind, "") // before those who wait for the state go on
	w.change(func() {
		events, replay := f.sees()
		w.client, w.quiet = c, 0
		w.caps.Events, w.caps.Replay = events || seen.Caps.Events, replay
		if !w.attached && !w.adopted {
			w.life.started(time.Now())
		}
		w.life.ready(time.Now())
	})
	return w.watch(ctx, c)
}

// verify has it looked at whether the engine makes our prompts.
func (w *Worker) verify(ctx context.Context, c Client) {
	if w.fleet.o.Verify == nil {
		return
	}
	why := w.fleet.o.Verify(ctx, w.Info(), c)
	w.change(func() { w.chat = why })
}

// learn tells what the server holds until ctx ends: what it publishes, or what
// its client makes of what was sent and came back.
func (w *Worker) learn(ctx context.Context, c Client, f *feed) {
	m, ok := c.(Mirror)
	if !ok || f.can() {
		w.hears(f)
		f.run(ctx)
		w.hears(nil)
		return
	}
	defer f.first.Do(func() { close(f.synced) })
	f.forgetAll()
	m.Mirror(ctx, func(events []turn.KVEvent) {
		if len(events) > 0 {
			w.fleet.kv(turn.KVBatch{Worker: w.name, Events: events})
		}
		f.first.Do(func() { close(f.synced) })
	})
}

// hears notes who reads the events of the present life.
func (w *Worker) hears(f *feed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.feed = f; f != nil && !f.can() {
		w.feed = nil
	}
}

// watch looks at the server again and again.
func (w *Worker) watch(ctx context.Context, c Client) error {
	tick := time.NewTimer(w.fleet.o.Poll)
	defer tick.Stop()
	var p pace
	var s stuck
	var misses int
	var since time.Time // of the first miss
	for n := 0; ; n++ {
		err := w.look(ctx, c, n, &p)
		if err == nil {
			err = w.works(ctx, c, &s)
		}
		now := time.Now()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errHung):
			w.cutAll(errHung.Error())
			return err
		case err == nil && misses >= missLimit:
			w.change(func() { w.life.ready(now) })
			w.fleet.tell(w, EventReady, "it answers again")
			fallthrough
		case err == nil:
			misses = 0
		case misses == 0:
			since = now
			fallthrough
		default:
			n = -1 // the next look is a full one
			if misses++; w.attached && errors.Is(err, syscall.ECONNREFUSED) && misses < missLimit {
				misses = missLimit // nobody listens: no need to ask thrice
			}
			if misses == missLimit && w.silent(err) {
				return fmt.Errorf("%w: %w", errSilent, err)
			}
			if now.Sub(since) > w.patience(err) {
				return fmt.Errorf("%w: %w", errSilent, err)
			}
		}
		tick.Reset(untilNext(now, w.interval(&p)))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		case <-w.nudge:
			p.stir()
			n = -1 // figures may come from an engine whose core is gone
		}
	}
}

// patience is how long a server may not answer before its process is killed.
// One that does not listen any more is ending, and may have hung in that: it
// keeps the streams that it has spent its grace on.
func (w *Worker) patience(err error) time.Duration {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return w.fleet.o.DrainStall
	}
	return silenceLimit
}

// interval is the time between two looks now. A worker that rests says so, so
// that its next turn ends the rest.
func (w *Worker) interval(p *pace) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attached || !p.rests() || len(w.streams) > 0 {
		return w.fleet.o.Poll
	}
	w.resting = true
	return restEvery * w.fleet.o.Poll
}

// silent notes that a server does not answer. It reports whether the watch
// ends with that: an attached server is probed anew when it comes back, while
// the process of a launched one still runs.
func (w *Worker) silent(err error) bool {
	if w.attached {
		return true
	}
	why := "it does not answer: " + err.Error()
	w.change(func() { w.life.enter(turn.Down, why, time.Now()) })
	w.fleet.tell(w, EventDown, why)
	return false
}

// look takes the n-th look: how is its load, do its streams move, and at times
// or in doubt, is it well. An engine without metrics is well all the same.
func (w *Worker) look(ctx context.Context, c Client, n int, p *pace) error {
	w.cutSilent(time.Now())
	if w.log != "" {
		_ = trimLog(w.log) // the next look tries again
	}
	quick, cancel := within(ctx, healthLimit, "no sign of health")
	defer cancel()
	load, err := c.Load(quick)
	if err == nil {
		w.change(func() {
			w.load = load
			p.saw(load, len(w.streams))
		})
		if n%healthEvery > 0 {
			return nil
		}
	}
	if err := c.Health(quick); err != nil {
		p.stir()
		return err
	}
	return nil
}

// hurry has the server looked at now, because a turn was lost there.
func (w *Worker) hurry() {
	select {
	case w.nudge <- struct{}{}:
	default: // it is being looked at already
	}
}
