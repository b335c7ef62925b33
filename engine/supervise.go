package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Ends of a life that are no crash of the process itself.
var (
	errRestart = errors.New("restarted by hand")
	errSilent  = errors.New("it does not answer")
)

// errHung is in the chain when the server says that it lives and does no work.
var errHung = errors.New("it does no work")

// errEnded is in the chain when the process ended by itself.
var errEnded = errors.New("the process ended")

// portTries is how often a worker is launched whose port somebody else took
// before it could.
const portTries = 3

// supervise runs a launched worker, life after life, until ctx ends. A worker
// that was never ready is not tried again, unless it was its port.
func (w *Worker) supervise(ctx context.Context, s Spec, a Adapter) {
	defer close(w.done)
	for tries := 1; ; tries++ {
		err := w.live(ctx, s, a)
		w.mu.Lock()
		born := w.client != nil
		w.mu.Unlock()
		if ctx.Err() == nil && !born && errors.Is(err, errAdopted) {
			w.fleet.tell(w, EventDown, err.Error())
			tries = 0
			continue
		}
		if ctx.Err() == nil && !born && tries < portTries && errors.Is(err, errEnded) && w.portTaken() {
			continue
		}
		if ctx.Err() == nil && !born && errors.Is(err, errEnded) && s.spare(w.advice(w.words()).Without) {
			continue
		}
		if ctx.Err() != nil || !born {
			w.end(ctx, err)
			return
		}
		wait := time.Duration(0)
		if errors.Is(err, errRestart) {
			w.change(func() { w.life.again(time.Now()) })
			continue
		}
		known := w.Info().State == turn.Down // by its silence
		w.change(func() { wait = w.life.lost(err.Error(), time.Now()) })
		if !known {
			w.fleet.tell(w, EventDown, err.Error())
		}
		w.change(w.gone)
		if wait == never {
			w.giveUp(err)
		}
		w.pause(ctx, wait)
		w.change(func() { w.life.again(time.Now()) })
	}
}

// giveUp says that the worker is not started again by itself, and below that
// what its last life wrote.
func (w *Worker) giveUp(err error) {
	why := fmt.Sprintf("it ended %d times in a row, at last with: %v; try: dyn restart %s", giveUpAfter, err, w.name)
	if f := w.fault("start", err); f.Why != "" {
		why += "\n" + f.Why
	}
	w.change(func() { w.life.enter(turn.Down, why, time.Now()) })
	w.fleet.tell(w, EventGaveUp, why)
}

// pause waits until the next life may begin, or a person orders it now.
func (w *Worker) pause(ctx context.Context, wait time.Duration) {
	var over <-chan time.Time
	if wait != never {
		over = time.After(wait)
	}
	select {
	case <-over:
	case <-w.order:
	case <-ctx.Done():
	}
}

// end makes the worker Gone.
func (w *Worker) end(ctx context.Context, err error) {
	why := "stopped"
	if ctx.Err() == nil {
		why = err.Error()
	}
	w.change(func() {
		if ctx.Err() == nil {
			w.failure = err
		}
		w.life.enter(turn.Gone, why, time.Now())
	})
	w.fleet.tell(w, EventStopped, why)
	w.change(w.gone)
}

// live is one life: from the launch to the end of the process.
func (w *Worker) live(ctx context.Context, s Spec, a Adapter) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	select {
	case <-w.order: // this is what it ordered
	default:
	}
	b, err := w.begin(s, a)
	if err != nil {
		return err
	}
	defer b.end()
	defer w.cutAll("has ended") // an engine with open streams may not mind SIGTERM
	w.change(func() {
		w.url, w.pid, w.restart = b.at.URL, b.PID(), cancel
		w.started, w.adopted = b.started, b.adopted
	})
	w.fleet.tell(w, b.kind(), s.spared())
	go func() {
		<-b.Exited()
		cancel(fmt.Errorf("%w: %w", errEnded, b.Err()))
	}()
	client := a.Open(b.at)
	defer client.Close()
	patient, stop := within(ctx, b.patience(w.fleet.o.StartLimit), "no first token")
	seen, err := firstToken(patient, client)
	stop()
	if err != nil {
		return b.blame(err)
	}
	b.ready()
	seen.Caps = merge(seen.Caps, b.known, s.Recipe.Vision)
	if s.Recipe.Vision && !seen.Caps.Vision {
		w.fleet.tell(w, EventBlind, "its engine sees no images, though the recipe says vision: true; a fixed text stands for them")
	}
	return w.serve(ctx, client, seen, b.inbox)
}

// portTaken reports whether the log of the present life says that its port was
// not free: between our look and its listening others may take it.
func (w *Worker) portTaken() bool {
	return slices.ContainsFunc(w.words(), func(line string) bool {
		return strings.Contains(strings.ToLower(line), "address already in use")
	})
}

// firstToken waits until the server gives a token. It ends with ctx, or when
// the server refuses the probe itself or has no end of it.
func firstToken(ctx context.Context, c Client) (Seen, error) {
	for wait := 10 * time.Millisecond; ; wait = min(wait*3/2, 500*time.Millisecond) {
		seen, err := tryToken(ctx, c)
		if err == nil {
			return seen, nil
		}
		var refused *turn.Refused
		if errors.As(err, &refused) || errors.Is(err, ErrEndless) {
			return seen, fmt.Errorf("%w: %w", ErrNotReady, err)
		}
		select {
		case <-ctx.Done():
			return seen, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

func tryToken(ctx context.Context, c Client) (Seen, error) {
	quick, cancel := within(ctx, healthLimit, "no sign of health")
	err := c.Health(quick)
	cancel()
	if err != nil {
		return Seen{}, err
	}
	slow, cancel := within(ctx, probeLimit, "no token")
	defer cancel()
	seen, err := c.Probe(slow)
	return sane(seen), err
}

// within is a timeout that says what did not come.
func within(ctx context.Context, d time.Duration, what string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("%s in %v: %w", what, d, context.DeadlineExceeded))
}

// merge fills what a probe cannot see with what the launch has set. Images are
// seen where the recipe says so and the engine can.
func merge(seen, known turn.Capabilities, vision bool) turn.Capabilities {
	fill := func(to *int, from int) {
		if *to == 0 {
			*to = from
		}
	}
	fill(&seen.Context, known.Context)
	fill(&seen.BlockSize, known.BlockSize)
	fill(&seen.KVTokens, known.KVTokens)
	fill(&seen.MaxSeqs, known.MaxSeqs)
	fill(&seen.MaxBatched, known.MaxBatched)
	seen.Priority = seen.Priority || known.Priority
	seen.Vision = vision && seen.Vision
	return seen
}
