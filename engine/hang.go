package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// stuck decides how long an engine has shown no sign of work: no token of any
// stream, no figure that its loop moves. A server whose health is well may
// hang all the same, since another thread or process of it answers that. It
// has no clock; its zero value is ready.
type stuck struct {
	last  turn.Load
	since time.Time
}

// quiet takes a look: how many streams wait for the engine now, when one of
// them last gave something, and what the engine reports. What grows only
// because turns arrive is no work.
func (s *stuck) quiet(now time.Time, waiting int, heard time.Time, l turn.Load) time.Duration {
	moved := l.Work != s.last.Work || l.KVUsed != s.last.KVUsed || l.Hits != s.last.Hits || l.Queries != s.last.Queries
	s.last = l
	switch {
	case waiting == 0 || moved || s.since.IsZero():
		s.since = now
	case heard.After(s.since):
		s.since = heard
	}
	return now.Sub(s.since)
}

// works reports, with an error in the chain of errHung, that the engine does
// nothing although turns wait for it. It is asked for one token before that is
// believed: figures may stand still for a prompt that takes minutes.
func (w *Worker) works(ctx context.Context, c Client, s *stuck) error {
	waiting, limit := w.waiting(), w.fleet.o.Hang
	quiet := s.quiet(time.Now(), waiting, born.Add(time.Duration(w.heard.Load())), w.Load())
	w.mu.Lock()
	w.quiet = quiet
	w.mu.Unlock()
	if quiet < limit {
		return nil
	}
	quick, cancel := within(ctx, w.fleet.o.HangProbe, "no token")
	defer cancel()
	_, err := c.Probe(quick)
	if err == nil {
		s.since = time.Now()
		return nil
	}
	return fmt.Errorf("%w: %d turns wait, nothing has moved for %v: %w", errHung, waiting, quiet.Round(time.Second), err)
}

// waiting counts the streams that wait for the engine.
func (w *Worker) waiting() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.streams {
		if s.asked.Load() != 0 || !s.open.Load() {
			n++
		}
	}
	return n
}
