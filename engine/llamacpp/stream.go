package llamacpp

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/agentinfer/dyn/engine/exchange"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// stream is one answer. Next reads on its caller's goroutine, so a caller that
// does not come back lets the socket fill and holds the engine back.
type stream struct {
	ctx    context.Context
	client *client
	body   *exchange.Answer
	events *remote.Events
	job    turn.Job

	ended error      // what every Next from now on returns; nil while it runs
	lag   lag        // ids whose text has not come
	told  bool       // the server said how much of the prompt it found
	met   bool       // a stop id of the job's has come
	mute  int        // bytes of events since the last delta
	last  turn.Delta // with that one's text

	mu       sync.Mutex // guards what Close reads while Next may run
	claim    *claim     // nil when the mirror was told of the end
	progress progress
	made     made

	whole  atomic.Bool // no more is to be read
	closed atomic.Bool
}

func newStream(ctx context.Context, c *client, a *exchange.Answer, j turn.Job, cl *claim) *stream {
	return &stream{ctx: ctx, client: c, body: a, events: remote.NewEvents(a), job: j, claim: cl}
}

var done = []byte("[DONE]")

// maxMute bounds what is held back of an answer whose text does not come.
const maxMute = 16 << 20

// Next returns the next delta, the last one with End.
func (s *stream) Next() (turn.Delta, error) {
	for s.ended == nil {
		data, err := s.events.Next()
		if err != nil {
			return s.broken(err)
		}
		if bytes.Equal(data, done) {
			continue
		}
		e, err := readEvent(data)
		if err != nil {
			return s.lost(err.Error())
		}
		if d, ok, err := s.step(e); ok || err != nil {
			s.mute = 0
			return d, err
		}
		if s.mute += len(data); s.mute > maxMute {
			return s.lost("over 16 MiB of events that say nothing")
		}
	}
	return turn.Delta{}, s.ended
}

// step takes an event, and reports whether there is a delta to tell.
func (s *stream) step(e event) (turn.Delta, bool, error) {
	switch {
	case e.err != nil:
		return turn.Delta{}, true, s.fail(e.err)
	case e.final != nil:
		d, err := s.finish(e)
		return d, true, err
	case s.met: // and it went on
		d, err := s.stopped()
		return d, true, err
	}
	d := s.lag.delta(e, s.note(e))
	if s.met = s.stops(e.ids); s.met {
		s.last = d
		return d, false, nil
	}
	return s.shown(d), d.Text != "", nil
}

// note keeps what the mirror must know, and reports whether ids are missing.
func (s *stream) note(e event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.progress.set {
		s.progress = e.progress
		return false
	}
	return s.made.add(e)
}

// stops reports whether the last of ids is a stop id of the job's.
func (s *stream) stops(ids []uint32) bool {
	if len(ids) == 0 {
		return false
	}
	id := ids[len(ids)-1]
	return slices.Contains(s.job.StopIDs, id) || slices.Contains(s.job.Sampling.StopIDs, id)
}

// Buffered reports that a whole event was read and not given out yet, so that
// Next does not wait.
func (s *stream) Buffered() bool { return s.ended == nil && s.events.Buffered() }

// shown keeps of each token as many alternatives as were asked for.
func (s *stream) shown(d turn.Delta) turn.Delta {
	for i := range d.Logprobs {
		p := &d.Logprobs[i]
		p.Top = p.Top[:min(len(p.Top), max(s.job.Sampling.TopLogprobs, 0))]
	}
	return d
}

// broken is an answer whose connection ended. After a stop id that is its end.
func (s *stream) broken(err error) (turn.Delta, error) {
	if s.met && s.ctx.Err() == nil && !s.closed.Load() {
		return s.stopped()
	}
	if s.closed.Load() && s.ctx.Err() == nil {
		return turn.Delta{}, s.fail(context.Canceled)
	}
	return turn.Delta{}, s.fail(remote.Broken(s.ctx, err))
}

func (s *stream) lost(why string) (turn.Delta, error) {
	return turn.Delta{}, s.fail(fmt.Errorf("read answer: %s: %w", why, turn.ErrLost))
}

func (s *stream) fail(err error) error {
	s.ended = err
	_ = s.Close()
	return err
}

// Close aborts what still runs: the server sees its connection end and stops.
func (s *stream) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	s.settle(nil)
	if s.whole.Load() { // Next reads no more
		s.events.Release()
		return s.body.Done()
	}
	return s.body.Close()
}
