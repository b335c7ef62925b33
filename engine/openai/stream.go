package openai

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// Body is what is read of an answer, see exchange.Answer.
type Body interface {
	io.ReadCloser
	Done() error
}

// Stream is one answer. Next reads on its caller's goroutine, so a caller that
// does not come back lets the socket fill and holds the engine back.
type Stream struct {
	ctx    context.Context
	body   Body
	events *remote.Events
	judge  func(status int, v gjson.Result) error

	open   int          // index of the call that is open, −1 is none
	calls  int          // begun
	some   bool         // text, reasoning or a call came
	held   []turn.Delta // read and not given out
	last   *chunk       // the one that finished the answer
	usage  turn.Usage   // as told last
	ended  error        // what every Next from now on returns; nil while it runs
	whole  atomic.Bool  // the server said that it was all
	closed atomic.Bool
}

// NewStream reads an answer. judge says what an error in place of a chunk
// means; nil is remote.Fault.
func NewStream(ctx context.Context, b Body, judge func(status int, v gjson.Result) error) *Stream {
	return &Stream{ctx: ctx, body: b, events: remote.NewEvents(b), judge: judge, open: -1}
}

var done = []byte("[DONE]")

// Next returns the next delta, the last one with End.
func (s *Stream) Next() (turn.Delta, error) {
	for s.ended == nil {
		if len(s.held) > 0 {
			d := s.held[0]
			s.held = s.held[1:]
			return d, nil
		}
		data, err := s.events.Next()
		switch {
		case err != nil:
			return s.finish(s.broken(err))
		case bytes.Equal(data, done):
			return s.finish(nil)
		}
		c, err := readChunk(data)
		if err != nil {
			return s.finish(lost(err.Error()))
		}
		if c.fault.Exists() {
			return s.finish(s.fault(c.fault))
		}
		if err := s.take(&c); err != nil {
			return s.finish(err)
		}
	}
	return turn.Delta{}, s.ended
}

// take holds what a chunk says: text first, then what the server has read out
// of it.
func (s *Stream) take(c *chunk) error {
	if c.told {
		s.usage = c.usage
	}
	var es []turn.Event
	if c.reasoning != "" {
		es = append(es, turn.Event{Kind: turn.Reasoning, Text: c.reasoning})
	}
	text := turn.Delta{Events: es, Text: c.text, Logprobs: c.likely}
	if c.text != "" && s.open >= 0 {
		text.Events = s.closing(text.Events)
	}
	if text.Text != "" || len(text.Events) > 0 || len(text.Logprobs) > 0 {
		s.held = append(s.held, text)
	}
	es, err := s.called(c.calls)
	if len(es) > 0 {
		s.held = append(s.held, turn.Delta{Events: es})
	}
	s.some = s.some || len(s.held) > 0
	if c.finish != "" {
		s.last = c
	}
	return err
}

// called makes events of pieces of calls. One begins with its name; a server
// that sends a name again says the same call. Arguments of a call that is not
// open are an error: without them it would be another call.
func (s *Stream) called(pieces []piece) (es []turn.Event, err error) {
	for _, p := range pieces {
		if p.name != "" && p.index != s.open {
			es = s.closing(es)
			s.open = p.index
			es = append(es, turn.Event{Kind: turn.CallStart, Call: turn.Call{Index: s.calls, Name: p.name}})
			s.calls++
		}
		switch {
		case p.args == "":
		case p.index != s.open:
			return es, lost(fmt.Sprintf("arguments for call %d, which is not open", p.index))
		default:
			es = append(es, turn.Event{Kind: turn.CallArgs, Text: p.args, Call: turn.Call{Index: s.calls - 1}})
		}
	}
	return es, nil
}

// closing ends the call that is open.
func (s *Stream) closing(es []turn.Event) []turn.Event {
	if s.open < 0 {
		return es
	}
	s.open = -1
	return append(es, turn.Event{Kind: turn.CallEnd, Call: turn.Call{Index: s.calls - 1}})
}

// finish turns the end of the stream into the last delta or an error. err is
// what ended it, nil for [DONE].
func (s *Stream) finish(err error) (turn.Delta, error) {
	if err == nil {
		s.whole.Store(true)
		switch {
		case s.last == nil:
			err = lost("it ended without a reason")
		case s.last.finish == "abort", s.last.finish == "error":
			err = lost("finish reason " + s.last.finish)
		case !s.some && s.usage.Output == 0:
			err = lost("an answer without a token")
		}
	}
	if err != nil {
		s.ended = err
		_ = s.Close()
		return turn.Delta{}, err
	}
	s.ended = io.EOF
	return turn.Delta{Events: s.closing(nil), End: s.end()}, nil
}

func (s *Stream) end() *turn.End {
	e := &turn.End{Reason: turn.Ended, Usage: s.usage}
	switch {
	case s.last.finish == "length":
		e.Reason = turn.Cut
	case s.last.finish == "stop" && s.last.stop != "":
		e.Reason, e.StopText = turn.Stopped, s.last.stop
	}
	return e
}

// fault says what an error in place of a chunk means.
func (s *Stream) fault(v gjson.Result) error {
	status := cmp.Or(int(v.Get("code").Int()), 500)
	if s.judge != nil {
		return s.judge(status, v)
	}
	return remote.Fault(status, cmp.Or(v.Get("message").Str, v.Str))
}

// broken says why a read failed: our own cancel, or a connection that ended
// before its time.
func (s *Stream) broken(err error) error {
	if s.closed.Load() && s.ctx.Err() == nil {
		return context.Canceled
	}
	return remote.Broken(s.ctx, err)
}

func lost(why string) error { return fmt.Errorf("read answer: %s: %w", why, turn.ErrLost) }

// Buffered reports that Next does not wait.
func (s *Stream) Buffered() bool {
	return s.ended == nil && (len(s.held) > 0 || s.events.Buffered())
}

// Close aborts what still runs: the server sees its connection end and stops.
func (s *Stream) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	if s.whole.Load() { // Next reads no more
		s.events.Release()
		return s.body.Done()
	}
	return s.body.Close()
}
