package trtllm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/agentinfer/dyn/engine/exchange"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/engine/stops"
	"github.com/agentinfer/dyn/turn"
)

// stream is one answer. Next reads on its caller's goroutine.
type stream struct {
	ctx    context.Context
	client *client
	body   *exchange.Answer
	events *remote.Events
	spell  *speller // nil: the server makes the text
	stops  *stops.Finder
	ends   []uint32 // ids that end the answer
	prompt int      // tokens sent

	output int // tokens received, or chunks where no ids come
	told   usage
	last   *turn.Delta // with the finish reason, while the usage is waited for
	ended  error       // what every Next from now on returns; nil while it runs

	done   atomic.Bool // the server said that it was all
	closed atomic.Bool
}

func newStream(ctx context.Context, c *client, a *exchange.Answer, m manner, j turn.Job) *stream {
	s := &stream{
		ctx: ctx, client: c, body: a, events: remote.NewEvents(a), stops: stops.New(j.Stop), ends: stopSet(j), prompt: j.Prompt.Len(),
	}
	if m.tok != nil {
		s.spell = newSpeller(m.tok, j)
	}
	return s
}

var doneMark = []byte("[DONE]")

// Next returns the next delta. The last one, with End, waits for the usage
// behind it.
func (s *stream) Next() (turn.Delta, error) {
	for s.ended == nil {
		data, err := s.events.Next()
		switch {
		case s.last != nil && (err != nil || bytes.Equal(data, doneMark)):
			return s.finish(err)
		case err != nil:
			return s.fail(turn.Delta{}, s.broken(err))
		case bytes.Equal(data, doneMark):
			return s.fail(turn.Delta{}, lost("it ended without a reason"))
		}
		c, err := readChunk(data)
		if err != nil {
			return s.fail(turn.Delta{}, lost(err.Error()))
		}
		if c.fault != nil && s.last == nil {
			return s.fail(turn.Delta{}, c.fault)
		}
		if c.usage.set {
			s.told = c.usage
		}
		if s.last != nil {
			continue
		}
		d, err := s.delta(c)
		if err != nil {
			return s.fail(d, err)
		}
		if s.last == nil && (d.End != nil || d.Text != "" || len(d.IDs) > 0) {
			return d, nil
		}
	}
	return turn.Delta{}, s.ended
}

// Buffered reports that a whole event was read and not given out yet, so that
// Next does not wait.
func (s *stream) Buffered() bool { return s.ended == nil && s.events.Buffered() }

// delta is what a chunk holds. One that finishes the answer becomes the last.
func (s *stream) delta(c chunk) (turn.Delta, error) {
	d := turn.Delta{Text: c.text, IDs: c.ids}
	end, err := s.reason(c)
	if s.spell != nil {
		d.Text = s.spell.push(c.ids, end)
	}
	if s.output += len(c.ids); s.spell == nil && c.text != "" {
		s.output++
	}
	var met string
	if d.Text, met = s.stops.Push(d.Text); met != "" {
		d.End = &turn.End{Reason: turn.Stopped, StopText: met, Usage: s.usage()}
		s.ended = io.EOF
		s.Close() // the server does not know that it is over
		return d, nil
	}
	switch {
	case err != nil:
		return d, err
	case end == nil:
		return d, nil
	case s.output == 0:
		return d, lost("an answer without a token")
	}
	d.Text += s.stops.Rest()
	d.End = end
	s.last = &d
	return d, nil
}

// reason says how an answer ended with a chunk; nil while it goes on.
func (s *stream) reason(c chunk) (*turn.End, error) {
	switch {
	case c.finish == "":
		return nil, nil
	case c.finish == "length":
		return &turn.End{Reason: turn.Cut}, nil
	case c.finish == "stop" && c.byText != "":
		return &turn.End{Reason: turn.Stopped, StopText: c.byText}, nil
	case c.finish == "stop":
		n := len(c.ids)
		if n == 0 {
			return &turn.End{Reason: turn.Ended, StopID: s.spell.waits()}, nil
		}
		return &turn.End{Reason: turn.Ended, StopID: s.isEnd(c.ids[n-1], c.byID)}, nil
	}
	return nil, lost("finish reason " + c.finish)
}

// isEnd reports whether the last id of an answer that has ended is its end
// token. The server tells it when it is one of ours, and else keeps the model's
// own among the ids; a job that lists none leaves that to be told by its kind.
func (s *stream) isEnd(id uint32, told int64) bool {
	return int64(id) == told || slices.Contains(s.ends, id) || len(s.ends) == 0 && s.spell.special(id)
}

// finish gives out the last delta. err is what came in place of the mark of
// the end.
func (s *stream) finish(err error) (turn.Delta, error) {
	s.ended = io.EOF
	s.done.Store(err == nil || errors.Is(err, io.EOF))
	s.last.End.Usage = s.usage()
	return *s.last, nil
}

// usage counts what came, and takes the server's word for the prompt.
func (s *stream) usage() turn.Usage {
	u := turn.Usage{Prompt: s.prompt, Output: s.output}
	if s.told.set {
		u.Prompt = s.told.prompt
		u.Cached = min(s.told.cached, u.Prompt)
		if s.spell == nil {
			u.Output = s.told.output
		}
	}
	return u
}

// fail ends the stream with an error; what came with it is given out first.
func (s *stream) fail(d turn.Delta, err error) (turn.Delta, error) {
	s.ended = err
	s.Close()
	if d.Text != "" || len(d.IDs) > 0 {
		return d, nil // the caller comes back for the error
	}
	return turn.Delta{}, err
}

// broken says why a read failed; our own close loses no worker.
func (s *stream) broken(err error) error {
	if s.closed.Load() && s.ctx.Err() == nil {
		return context.Canceled
	}
	return remote.Broken(s.ctx, err)
}

// Close aborts what still runs: the server sees its connection end and stops,
// a second later or so.
func (s *stream) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	s.client.open.Add(-1)
	if s.done.Load() { // Next reads no more
		s.events.Release()
		return s.body.Done()
	}
	return s.body.Close()
}

func lost(why string) error { return fmt.Errorf("read answer: %s: %w", why, turn.ErrLost) }
