package server

import (
	"bufio"
	"context"
	"time"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

// answer sends the flight's answer, whole or as a stream, and ends the
// flight. An error before the first byte is returned, to be answered with its
// status.
func (f *flight) answer(c *fasthttp.RequestCtx, codec dialect.Codec) error {
	p, err := f.parser()
	if err != nil {
		f.watch()
		f.land(nil, err)
		return err
	}
	an := &analysis{f: f, parser: p, ids: f.opened}
	if f.t.Stream {
		return f.stream(c, codec.Stream(f.t), an)
	}
	return f.document(c, codec.Document(f.t), an)
}

// document collects the whole answer.
func (f *flight) document(c *fasthttp.RequestCtx, doc dialect.Document, an *analysis) (err error) {
	defer f.watch()
	defer f.crashed(an, &err)
	for !an.over {
		select {
		case it := <-f.out:
			for _, e := range an.events(it) {
				doc.Add(e)
			}
		case <-f.ctx.Done():
			an.over, an.err = true, context.Cause(f.ctx)
		}
	}
	f.land(an, an.err)
	if an.err != nil {
		return an.err
	}
	if n := len(f.marks); n > 0 {
		doc.Mark(f.marks[n-1].Tokens)
	}
	status, body := doc.JSON()
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	c.Response.SetBodyRaw(body)
	return nil
}

// stream answers with server-sent events. It waits a little for the first
// item, so that a turn that fails at once gets a status, not a stream.
func (f *flight) stream(c *fasthttp.RequestCtx, enc dialect.Encoder, an *analysis) error {
	var first item
	early := time.NewTimer(f.s.pingEvery)
	defer early.Stop()
	select {
	case first = <-f.out:
	case <-early.C:
	case <-f.ctx.Done():
		first.err = context.Cause(f.ctx)
	}
	if first.err != nil {
		first.err = f.cause(first.err)
		f.watch()
		f.land(an, first.err)
		return first.err
	}
	if !c.Request.Header.IsHTTP11() {
		f.plain(c, enc, an, first)
		return nil
	}
	c.SetContentType(eventStream)
	c.Response.Header.Set("Cache-Control", "no-cache")
	c.Response.Header.Set("X-Accel-Buffering", "no")
	conn := c.Conn()
	c.SetBodyStreamWriter(func(w *bufio.Writer) {
		defer f.watch()
		defer conn.SetWriteDeadline(time.Time{}) // the connection's next answer has its own time
		out := &sink{w: w, deadline: conn.SetWriteDeadline, patience: f.s.o.Patience}
		f.emit(out, enc, an, first)
	})
	return nil
}

// emit writes a stream and lands the flight, also when that panics: then
// the client gets the dialect's last event if the encoder still makes one.
func (f *flight) emit(out *sink, enc dialect.Encoder, an *analysis, first item) {
	var crash error
	func() {
		defer f.crashed(an, &crash)
		f.pour(out, enc, an, first)
		f.land(an, an.err)
	}()
	if crash == nil {
		return
	}
	defer f.crashed(an, &crash)
	out.write(enc.Event(nil, turn.Event{Kind: turn.Fail, Err: f.problem(crash)}))
}

// pour writes events until the answer ends or the client is gone; either way
// an.over is set. A client that stops reading blocks the flush, so fly blocks
// on its channel and the worker on its socket; after Options.Patience it
// counts as gone.
//
// The request context is not used here: it belongs to the next request by
// then.
func (f *flight) pour(out *sink, enc dialect.Encoder, an *analysis, first item) {
	if n := len(f.marks); n > 0 {
		enc.Mark(f.marks[n-1].Tokens)
	}
	buf := enc.Open(make([]byte, 0, 4096), turn.Usage{Prompt: f.asked, Cached: f.predicted()})
	buf = an.encode(buf, enc, first)
	quiet := time.NewTicker(f.s.pingEvery)
	defer quiet.Stop()
	for {
		for more := !an.over && len(buf) < 32<<10; more; {
			select {
			case it := <-f.out:
				buf = an.encode(buf, enc, it)
				more = !an.over && len(buf) < 32<<10
			default:
				more = false
			}
		}
		if !out.write(buf) {
			an.over, an.err = true, errLeft
			return
		}
		if an.over {
			return
		}
		select {
		case it := <-f.out:
			buf = an.encode(buf[:0], enc, it)
		case now := <-quiet.C:
			if buf = buf[:0]; now.Sub(out.wrote) >= f.s.pingEvery/2 { // what writes nothing is no sign of life
				buf = enc.Ping(buf)
			}
		case <-f.ctx.Done():
			buf = an.encode(buf[:0], enc, item{err: context.Cause(f.ctx)})
		}
	}
}

// sink writes to a client that may have stopped reading.
type sink struct {
	w        *bufio.Writer
	deadline func(time.Time) error
	patience time.Duration
	wrote    time.Time // when something was last written
	set      time.Time // when the deadline was last moved
}

// write sends b; false when the client is gone.
func (s *sink) write(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	s.wrote = time.Now()
	if s.wrote.Sub(s.set) > s.patience/8 { // not for each token: it costs as much as encoding one
		s.set = s.wrote
		s.deadline(s.wrote.Add(s.patience))
	}
	s.w.Write(b) // bufio keeps the error for Flush
	return s.w.Flush() == nil
}

// crashed lands a flight whose consumer panicked, and tells by err.
func (f *flight) crashed(an *analysis, err *error) {
	if p := recover(); p != nil {
		f.s.panicked(p)
		*err = errPanic
		f.land(an, errPanic)
	}
}

// analysis reads an answer: its events, and what it amounts to. It belongs to
// the consuming goroutine.
type analysis struct {
	f      *flight
	parser *parsers.Stream
	buf    []turn.Event

	over   bool
	err    error // why it ended early
	end    turn.End
	usage  turn.Usage
	ids    int // of the answer, read so far
	reason turn.Reason
	answer dialect.Answer // as the client will send it back
}

// encode appends the wire form of what an item brings.
func (an *analysis) encode(dst []byte, enc dialect.Encoder, it item) []byte {
	for _, e := range an.events(it) {
		dst = enc.Event(dst, e)
	}
	return dst
}

// events parses an item. The last event of an answer is Finish or Fail. The
// slice is good until the next call.
func (an *analysis) events(it item) []turn.Event {
	if an.over {
		return nil
	}
	if it.err != nil {
		it.err = an.f.cause(it.err)
		an.parser.Cut()
		an.buf = an.parser.Close(an.buf[:0])
		an.note()
		an.over, an.err = true, it.err
		an.buf = append(an.buf, turn.Event{Kind: turn.Fail, Err: an.f.problem(it.err)})
		return an.buf
	}
	an.ids += len(it.delta.IDs)
	an.buf = an.parser.Push(an.buf[:0], it.delta.Text)
	if end := it.delta.End; end != nil {
		if end.Reason == turn.Cut {
			an.parser.Cut() // nobody is to run half a call
		}
		an.buf = an.parser.Close(an.buf)
	}
	an.note()
	if it.delta.End != nil {
		an.buf = append(an.buf, an.finish(*it.delta.End))
	}
	return an.buf
}

// finish makes the last event of an answer that ended.
func (an *analysis) finish(end turn.End) turn.Event {
	an.over, an.end = true, end
	an.reason = an.f.reason(end, an.parser.Calls())
	if an.reason != turn.Stopped {
		end.StopText = ""
	}
	an.usage = an.f.usage(end.Usage)
	an.usage.Thinking = min(an.thoughts(), an.usage.Output)
	return turn.Event{Kind: turn.Finish, Reason: an.reason, StopText: end.StopText, Usage: an.usage}
}

// thoughts counts the tokens of the reasoning; engines do not count it apart.
func (an *analysis) thoughts() (n int) {
	for _, b := range an.answer.Message().Blocks {
		if b.Kind == turn.ThinkingBlock {
			n += len(an.f.m.Prompt.Tokenizer().Encode(nil, b.Text))
		}
	}
	return n
}

// note collects the answer.
func (an *analysis) note() {
	for _, e := range an.buf {
		an.answer.Add(e)
	}
}
