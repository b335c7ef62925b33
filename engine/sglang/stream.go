package sglang

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/engine/stops"
	"github.com/agentinfer/dyn/turn"
)

// stream is one answer. Next reads on its caller's goroutine.
type stream struct {
	call   *call
	events *remote.Events
	stops  *stops.Finder
	prompt int // tokens sent
	top    int // alternatives asked for

	context int // tokens that the server takes; 0 is not known

	whole  bool // chunks tell all from the start
	output int  // tokens received
	shown  int  // bytes of text received
	told   chunk
	ended  error // what every Next from now on returns; nil while it runs

	done   atomic.Bool // the server said that it was all
	closed atomic.Bool
}

var doneMark = []byte("[DONE]")

// Next returns the next delta.
func (s *stream) Next() (turn.Delta, error) {
	for s.ended == nil {
		data, err := s.events.Next()
		if err != nil {
			return s.fail(remote.Broken(s.call.live, err))
		}
		if bytes.Equal(data, doneMark) {
			return s.fail(s.lost("it ended without a reason"))
		}
		c, err := readChunk(data)
		if err != nil {
			return s.fail(s.lost(err.Error()))
		}
		if c.fault != nil {
			return s.fail(c.fault.err(s.output > 0))
		}
		d := s.delta(&c)
		s.told = c
		if err := s.end(&d); err != nil {
			return s.last(d, err)
		}
		if d.End != nil || d.Text != "" || len(d.IDs) > 0 {
			return d, nil
		}
	}
	return turn.Delta{}, s.ended
}

// Buffered reports that a whole event was read and not given out yet, so that
// Next does not wait.
func (s *stream) Buffered() bool { return s.ended == nil && s.events.Buffered() }

// delta is what is new in a chunk.
func (s *stream) delta(c *chunk) turn.Delta {
	ids, text := c.ids, c.text
	// The first chunk is all there is in either manner. Later ones with as
	// many ids as the answer has tokens tell all.
	s.whole = s.whole || s.output > 0 && len(ids) == c.output && c.output >= s.output
	if s.whole {
		ids = ids[min(s.output, len(ids)):]
		text = text[min(s.shown, len(text)):]
	}
	s.output += len(ids)
	s.shown += len(text)
	d := turn.Delta{Text: text, IDs: ids}
	if n := len(c.likely) - len(ids); n >= 0 && len(c.likely) > 0 {
		d.Logprobs = c.likely[n:]
		for i := range d.Logprobs {
			d.Logprobs[i].Top = d.Logprobs[i].Top[:min(len(d.Logprobs[i].Top), s.top)]
		}
	}
	return d
}

// end looks whether the answer ends with a delta, and makes its end if so.
func (s *stream) end(d *turn.Delta) error {
	var met string
	if d.Text, met = s.stops.Push(d.Text); met != "" {
		d.End = &turn.End{Reason: turn.Stopped, StopText: met, Usage: s.usage()}
		s.ended = io.EOF
		s.Close() // the server does not know that it is over
		return nil
	}
	if s.told.finish == "" {
		return nil
	}
	d.Text += s.stops.Rest()
	end := &turn.End{Reason: turn.Ended, Usage: s.usage()}
	switch {
	case s.told.finish == "abort" && s.told.status >= 400:
		return remote.Fault(s.told.status, s.told.message)
	case s.told.finish != "stop" && s.told.finish != "length":
		return s.lost("finish reason " + s.told.finish + ": " + s.told.message)
	case s.output == 0:
		return s.lost("an answer without a token")
	case s.told.finish == "length":
		end.Reason = turn.Cut
	case s.told.byText != "":
		end.Reason, end.StopText = turn.Stopped, s.told.byText
	case s.told.byID >= 0:
		n := len(d.IDs)
		end.StopID = n > 0 && int64(d.IDs[n-1]) == s.told.byID
	}
	d.End = end
	s.ended = io.EOF
	s.done.Store(true)
	return nil
}

// usage counts what came. A server may report more cached tokens than the
// prompt has, after it took a request back.
func (s *stream) usage() turn.Usage {
	u := turn.Usage{Prompt: s.prompt, Output: s.output}
	if s.told.prompt > 0 {
		u.Prompt = s.told.prompt
	}
	u.Cached = min(s.told.cached, u.Prompt)
	return u
}

// fail ends the stream with an error.
func (s *stream) fail(err error) (turn.Delta, error) { return s.last(turn.Delta{}, err) }

// last ends the stream with an error; what came with it is given out first.
func (s *stream) last(d turn.Delta, err error) (turn.Delta, error) {
	if s.call.live.Err() != nil { // our own cancel loses no worker
		err = context.Cause(s.call.live)
	}
	err = remote.TooLong(err, s.prompt, s.context)
	s.ended = err
	s.Close()
	if d.Text != "" || len(d.IDs) > 0 {
		return d, nil // the caller comes back for the error
	}
	return turn.Delta{}, err
}

// Close aborts what still runs. The server is told first; then the connection
// is closed.
func (s *stream) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	if !s.done.Load() {
		return s.call.Close()
	}
	s.events.Release()
	return s.call.Done()
}

func (s *stream) lost(why string) error {
	return fmt.Errorf("read answer: %s: %w", why, turn.ErrLost)
}
