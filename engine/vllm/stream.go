package vllm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// stream is one answer. Next reads on its caller's goroutine, so a caller that
// does not come back lets the socket fill and holds the engine back.
type stream struct {
	ctx    context.Context
	body   body
	events *remote.Events
	reader reader
	asked  asked
	limit  int // tokens asked for
	top    int // alternatives asked for

	output int // tokens received, or chunks where the server sends no ids
	last   chunk
	ended  error // what every Next from now on returns; nil while it runs
	told   usage
	ids    bool // token ids came

	whole  atomic.Bool // the server said that it was all
	closed atomic.Bool
}

// body is what is read of an answer, see exchange.Answer.
type body interface {
	io.ReadCloser
	Done() error
}

func newStream(ctx context.Context, b body, j turn.Job, of asked) *stream {
	return &stream{
		ctx: ctx, body: b, events: newEvents(b),
		asked: of, limit: j.MaxTokens, top: j.Sampling.TopLogprobs,
	}
}

var done = []byte("[DONE]")

// Next returns the next delta. The last one, with End, holds the text and ids
// of the chunk that finished the answer, and waits for the usage behind it.
func (s *stream) Next() (turn.Delta, error) {
	for s.ended == nil {
		data, err := s.events.Next()
		if err != nil {
			return s.finish(s.broken(err))
		}
		if bytes.Equal(data, done) {
			return s.finish(nil)
		}
		c, err := s.reader.read(data)
		if err != nil {
			return s.finish(s.lost("a chunk that is no JSON"))
		}
		if c.fault != nil {
			return s.finish(s.asked.explain(remote.Fault(c.fault.status, c.fault.message)))
		}
		if c.usage.set {
			s.told = c.usage
		}
		s.count(c)
		if c.finish != "" {
			s.last = c
			continue
		}
		if c.text != "" || len(c.ids) > 0 {
			return s.delta(c), nil
		}
	}
	return turn.Delta{}, s.ended
}

// Buffered reports that a whole event was read and not given out yet, so that
// Next does not wait.
func (s *stream) Buffered() bool { return s.ended == nil && s.events.Buffered() }

func (s *stream) delta(c chunk) turn.Delta {
	return turn.Delta{Text: c.text, IDs: c.ids, Logprobs: best(c.likely, s.top)}
}

// Close aborts what still runs: the server sees its connection end and stops.
func (s *stream) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	if s.whole.Load() { // Next reads no more
		s.events.Release()
		return s.body.Done()
	}
	return s.body.Close()
}

func (s *stream) count(c chunk) {
	if len(c.ids) > 0 {
		s.ids = true
		s.output += len(c.ids)
	} else if !s.ids && c.text != "" {
		s.output++
	}
}

// finish turns the end of the stream into the last delta or an error. err is
// what ended it, nil for [DONE].
func (s *stream) finish(err error) (turn.Delta, error) {
	s.ended = io.EOF
	if err == nil {
		s.whole.Store(true) // the connection is good for more, but that is not for the reader to wait for
	} else {
		defer s.Close()
	}
	last := s.delta(s.last)
	var refused *turn.Refused
	switch {
	case s.last.finish == "" && err != nil:
		s.ended = err
		return turn.Delta{}, err
	case s.output == 0 && s.told.output == 0:
		s.ended = s.lost("an answer without a token")
		return turn.Delta{}, s.ended
	case s.last.finish == "abort", s.last.finish == "error":
		s.ended = s.lost("finish reason " + s.last.finish)
		if last.Text == "" && len(last.IDs) == 0 {
			return turn.Delta{}, s.ended
		}
		return last, nil // the caller comes back for the error
	case errors.As(err, &refused):
		s.ended = err
		return turn.Delta{}, err
	}
	last.End = s.end()
	return last, nil
}

// end says how a whole answer ended.
func (s *stream) end() *turn.End {
	e := &turn.End{Usage: turn.Usage{Prompt: s.asked.prompt, Output: s.output}}
	if s.told.set {
		e.Usage = turn.Usage{Prompt: s.told.prompt, Output: s.told.output, Cached: min(s.told.cached, s.told.prompt)}
	}
	ids := s.last.ids
	switch {
	case s.last.finish == "length", s.last.finish == "" && s.output >= s.limit:
		e.Reason = turn.Cut
	case s.last.finish == "stop" && s.last.stop.byText:
		e.Reason, e.StopText = turn.Stopped, s.last.stop.text
	case s.last.finish == "stop":
		e.Reason = turn.Ended
		e.StopID = len(ids) > 0 && (!s.last.stop.byID || ids[len(ids)-1] == s.last.stop.id)
	default:
		e.Reason = turn.Ended
	}
	return e
}

// broken says why a read failed: our own cancel, or a connection that ended
// before its time.
func (s *stream) broken(err error) error {
	if s.ctx.Err() == nil && s.closed.Load() {
		return context.Canceled
	}
	return remote.Broken(s.ctx, err)
}

func (s *stream) lost(why string) error {
	return fmt.Errorf("read answer: %s: %w", why, turn.ErrLost)
}
