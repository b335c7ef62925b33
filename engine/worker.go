package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Worker is one engine that takes turns. It is safe for concurrent use; a
// worker that has left the fleet goes on to answer, with state Gone.
type Worker struct {
	fleet    *Fleet
	name     string
	attached bool
	log      string  // path of its log file; "" when attached
	adviser  Adviser // nil when its adapter is none
	port     int     // of its present life; guarded by the fleet's mu

	mu      sync.Mutex // guards all below; held for moments only, never while telling anybody
	life    life
	url     string
	pid     int
	started time.Time // of its process
	adopted bool      // which a daemon before this one had started
	gpus    []int
	caps    turn.Capabilities
	chat    string // why its turns go to its own chat API
	load    turn.Load
	quiet   time.Duration // of load
	client  Client        // nil until the worker was ready once
	feed    *feed         // of its present life; nil when there is none
	streams map[*stream]struct{}
	resting bool          // it is looked at less often, until its next turn
	news    chan struct{} // closed and made anew after every change
	telling int           // changes that not everybody was told of yet
	logFrom int64         // where the log of this life begins
	secrets []string      // that its log may hold
	failure error         // why it is Gone, when that was not on purpose
	restart context.CancelCauseFunc
	halt    context.CancelFunc
	dropped int64 // KV events that could not be used

	heard atomic.Int64  // when a stream last gave something, see clock; 0 is never
	nudge chan struct{} // asks for a look at the server now
	order chan struct{} // asks for the next life now
	done  chan struct{} // closed when its supervisor has ended
}

func newWorker(f *Fleet) *Worker {
	return &Worker{
		fleet:   f,
		life:    life{state: turn.Starting, why: "no token yet", since: time.Now()},
		streams: map[*stream]struct{}{},
		news:    make(chan struct{}),
		nudge:   make(chan struct{}, 1),
		order:   make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
}

// Name is unique in the fleet and stays through restarts.
func (w *Worker) Name() string { return w.name }

// Info tells who the worker is and how it fares.
func (w *Worker) Info() turn.WorkerInfo {
	w.mu.Lock()
	defer w.mu.Unlock()
	return turn.WorkerInfo{
		Name: w.name, URL: w.url, PID: w.pid, Attached: w.attached, Started: w.started, Adopted: w.adopted, Chat: w.chat,
		State: w.life.state, Why: w.life.why, Since: w.life.since, Back: w.life.back, Restarts: w.life.restarts,
		GPUs: w.gpus, Log: w.log, Caps: w.caps, Dropped: w.dropped,
	}
}

// Load is what the engine reported last; its zero value when it never did.
func (w *Worker) Load() turn.Load {
	w.mu.Lock()
	defer w.mu.Unlock()
	load := w.load
	load.Quiet = w.quiet
	return load
}

// Dropped counts KV events that say nothing to an index: of kinds that are not
// known, malformed, about caches that are no prefixes; a batch that cannot be
// read counts as one.
func (w *Worker) Dropped() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dropped
}

// InFlight counts the streams that are open.
func (w *Worker) InFlight() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.streams)
}

// Generate sends a turn to the worker. The error is in the chain of
// turn.ErrLost when the worker takes no turns or cannot be reached, of
// turn.ErrBusy too when it is full, and a *turn.Refused when the turn itself
// is at fault. ctx covers the whole answer.
func (w *Worker) Generate(ctx context.Context, j turn.Job) (turn.Stream, error) {
	s := &stream{worker: w}
	if w.attached { // there is no process whose end would end it
		s.sent = time.Now()
		ctx, s.cancel = context.WithCancel(ctx)
	}
	w.mu.Lock()
	state, client := w.life.state, w.client
	ok := takes(state) && client != nil
	if ok { // counted before it is sent, so that a drain cannot overlook it
		w.streams[s] = struct{}{}
	}
	rested := w.resting
	w.resting = false
	w.mu.Unlock()
	if rested {
		w.hurry()
	}
	if !ok {
		s.drop()
		return nil, fmt.Errorf("worker %s is %s: %w: %w", w.name, state, turn.ErrUnsent, turn.ErrLost)
	}
	inner, err := client.Generate(ctx, j)
	if err != nil {
		w.release(s)
		s.drop()
		if why := s.cut.Load(); why != nil {
			return nil, fmt.Errorf("worker %s %s: %w", w.name, *why, turn.ErrLost)
		}
		if errors.Is(err, turn.ErrLost) && !errors.Is(err, turn.ErrBusy) {
			w.hurry()
		}
		return nil, fmt.Errorf("worker %s: %w", w.name, err)
	}
	s.inner = inner
	s.open.Store(true)
	return s, nil
}

// LogTail returns the last n lines of the worker's log, oldest first; none
// when it is attached or its log cannot be read. Its keys are not in them.
func (w *Worker) LogTail(n int) []string {
	if w.log == "" {
		return nil
	}
	w.mu.Lock()
	secrets := w.secrets
	w.mu.Unlock()
	return redact(tail(w.log, 0, n), secrets)
}

// change applies f to the worker under its lock and then tells everybody.
func (w *Worker) change(f func()) {
	w.mu.Lock()
	f()
	w.telling++
	w.mu.Unlock()
	w.fleet.changed(w)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.telling--
	close(w.news)
	w.news = make(chan struct{})
}

// gone forgets a process that has ended; w.mu must be held.
func (w *Worker) gone() { w.pid, w.started, w.adopted = 0, time.Time{}, false }

// capable notes what the KV feed was seen to do.
func (w *Worker) capable(events, replay bool) {
	w.change(func() { w.caps.Events, w.caps.Replay = events, replay })
}

// sized notes the block size that KV events tell.
func (w *Worker) sized(block int) {
	if w.Info().Caps.BlockSize != block {
		w.change(func() { w.caps.BlockSize = block })
	}
}

// Resync has it learnt anew what the worker holds: all is forgotten, and its KV
// events are asked for once more over a new connection. It returns at once,
// false when its engine has no events that could be asked for.
func (w *Worker) Resync() bool {
	w.mu.Lock()
	f := w.feed
	w.mu.Unlock()
	if f == nil {
		return false
	}
	f.anew()
	return true
}

// unusable counts KV events that were left out.
func (w *Worker) unusable(n int) {
	w.mu.Lock()
	w.dropped += int64(n)
	w.mu.Unlock()
}

// await blocks until ok holds for the worker and everybody was told so, or ctx
// is done: who waits for a worker to be ready may send it a turn through those
// who were told.
func (w *Worker) await(ctx context.Context, ok func(turn.WorkerInfo) bool) (turn.WorkerInfo, error) {
	for {
		w.mu.Lock()
		news, telling := w.news, w.telling > 0
		w.mu.Unlock()
		info := w.Info()
		if !telling && ok(info) {
			return info, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return info, context.Cause(ctx)
		}
	}
}

// drain stops new turns and waits for the running ones.
func (w *Worker) drain(ctx context.Context, why string) error {
	w.change(func() {
		if takes(w.life.state) {
			w.life.enter(turn.Draining, why, time.Now())
		}
	})
	_, err := w.await(ctx, func(turn.WorkerInfo) bool { return w.InFlight() == 0 })
	return err
}

// undrain lets turns in again.
func (w *Worker) undrain() {
	w.change(func() {
		w.life.held = false
		if w.life.state == turn.Draining {
			w.life.enter(turn.Ready, "", time.Now())
		}
	})
}

// orderRestart ends the present life, or the pause before the next one. It
// returns the number of restarts so far.
func (w *Worker) orderRestart() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.life.held, w.life.failures = false, 0
	if w.restart != nil {
		w.restart(errRestart)
	}
	select {
	case w.order <- struct{}{}:
	default: // it is ordered already
	}
	return w.life.restarts
}

// stop ends the worker for good and waits until its process is gone.
func (w *Worker) stop() {
	w.mu.Lock()
	halt := w.halt
	w.mu.Unlock()
	if halt != nil {
		halt()
	}
	<-w.done
}

// release forgets a stream that has ended.
func (w *Worker) release(s *stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.streams, s)
	if len(w.streams) == 0 { // somebody may wait for that
		close(w.news)
		w.news = make(chan struct{})
	}
}
