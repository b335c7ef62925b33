package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// stream is an answer as the worker's book-keeping sees it: it is counted
// until it ends, and it is cut when the engine says nothing for too long.
//
// Only the engine's silence counts. While nobody is inside Next it is the
// client that is slow, and the engine is held back by the full socket.
type stream struct {
	worker *Worker
	sent   time.Time          // to an attached engine
	cancel context.CancelFunc // ends an attached engine's answer, even before its head; nil elsewhere
	inner  turn.Stream
	open   atomic.Bool
	asked  atomic.Int64           // when Next began to wait, see clock; 0 is not waiting
	begun  atomic.Bool            // a delta has come
	cut    atomic.Pointer[string] // why it was closed here; nil when it was not
}

// Next returns the next delta of the engine.
func (s *stream) Next() (turn.Delta, error) {
	now := clock(time.Now())
	s.asked.Store(now)
	if s.begun.Load() { // what came before was taken until now
		s.worker.heard.Store(now)
	}
	d, err := s.inner.Next()
	s.asked.Store(0)
	s.begun.Store(true)
	if err == nil && d.End == nil {
		return d, nil
	}
	s.worker.release(s)
	if why := s.cut.Load(); err != nil && why != nil {
		err = fmt.Errorf("worker %s %s: %w", s.worker.name, *why, turn.ErrLost)
	}
	if errors.Is(err, turn.ErrLost) {
		s.worker.hurry()
	}
	return d, err
}

// Buffered reports that the engine's next words are here already.
func (s *stream) Buffered() bool {
	b, ok := s.inner.(interface{ Buffered() bool })
	return ok && b.Buffered()
}

// Close aborts what still runs.
func (s *stream) Close() error {
	err := s.inner.Close()
	s.worker.release(s)
	s.drop()
	return err
}

// drop gives back what cancel holds. Before inner is closed it would take the
// connection with it, which is good for the next turn.
func (s *stream) drop() {
	if s.cancel != nil {
		s.cancel()
	}
}

// born is the beginning of clock.
var born = time.Now()

// clock is a time in nanoseconds since a moment after born, never 0. It goes
// on evenly when the clock on the wall jumps.
func clock(t time.Time) int64 { return int64(t.Sub(born)) + 1 }

// silent reports how long the engine has been waited for, and whether a delta
// came before.
func (s *stream) silent(now time.Time) (time.Duration, bool) {
	asked := s.asked.Load()
	switch {
	case !s.open.Load() && s.cancel != nil:
		return now.Sub(s.sent), false
	case !s.open.Load(), asked == 0:
		return 0, false
	}
	return time.Duration(clock(now) - asked), s.begun.Load()
}

// cutSilent closes the streams of which the engine says nothing. On a draining
// worker a stream that gets no further may never end: an engine that has
// spent its grace keeps its sockets open and sends no more. Nor does one on a
// host that has vanished.
func (w *Worker) cutSilent(now time.Time) {
	w.mu.Lock()
	draining := w.life.state == turn.Draining || w.attached && w.life.state == turn.Down
	var late []*stream
	for s := range w.streams {
		quiet, begun := s.silent(now)
		limit := w.fleet.o.Stall
		if draining {
			limit = w.fleet.o.DrainStall
		}
		if quiet > limit && (begun || draining) {
			late = append(late, s)
		}
	}
	w.mu.Unlock()
	cut(late, "fell silent")
}

// cutAll closes all open streams.
func (w *Worker) cutAll(why string) {
	w.mu.Lock()
	var open []*stream
	for s := range w.streams {
		if s.open.Load() || s.cancel != nil {
			open = append(open, s)
		}
	}
	w.mu.Unlock()
	cut(open, why)
}

func cut(all []*stream, why string) {
	for _, s := range all {
		s.cut.Store(&why)
		if s.open.Load() {
			s.inner.Close()
		}
		s.drop()
	}
}
