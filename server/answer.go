package server

import (
	"context"
	"time"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// answer sends the flight's answer, whole or as a stream, and ends the
// flight. An error before the first byte is returned, to be answered with its
// status.
func (f *flight) answer(c *call) error {
	as, enc, doc, err := f.outfit(c.codec)
	if err != nil {
		f.watch()
		f.abandon(err)
		return err
	}
	f.s.unkept(c, f.t)
	if f.t.Stream {
		return f.stream(c, enc, as)
	}
	return f.document(c, doc, as)
}

// outfit makes what the answer is read and written with, a stream's encoder
// or a document. A panic is an error: the flight is on its way already.
func (f *flight) outfit(codec dialect.Codec) (as *answers, enc dialect.Encoder, doc dialect.Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			f.s.panicked(p)
			err = errPanic
		}
	}()
	if as, err = f.answers(codec); err != nil {
		return nil, nil, nil, err
	}
	if f.t.Stream {
		enc = codec.Stream(f.t)
	} else {
		doc = codec.Document(f.t)
	}
	return as, enc, doc, nil
}

// document collects the whole answer.
func (f *flight) document(c *call, doc dialect.Document, as *answers) (err error) {
	defer f.watch()
	defer as.crashed(&err)
	take := func(it item) {
		for _, e := range as.events(it) {
			doc.Add(e)
		}
	}
	if f.flown == nil { // one answer has one goroutine: what another would cost is a tenth of a short turn
		f.take = take
		f.fly()
	}
	for !as.over {
		select {
		case it := <-f.out:
			take(it)
		case <-f.ctx.Done():
			as.over, as.err = true, context.Cause(f.ctx)
		}
	}
	as.land(as.err)
	if as.err != nil {
		return as.err
	}
	if n := len(f.marks); n > 0 {
		doc.Mark(f.marks[n-1].Tokens)
	}
	f.tellLeases(c)
	status, body := doc.JSON()
	c.SetStatusCode(status)
	c.SetContentType("application/json")
	c.Response.SetBodyRaw(body)
	return nil
}

// stream answers with server-sent events.
func (f *flight) stream(c *call, enc dialect.Encoder, as *answers) error {
	first := f.silence()
	if first.err != nil {
		first.err = f.cause(first.err)
		f.watch()
		as.land(first.err)
		return first.err
	}
	f.tellLeases(c)
	if !c.Request.Header.IsHTTP11() {
		f.plain(c, enc, as, first)
		return nil
	}
	c.SetContentType(eventStream)
	c.Response.Header.Set("Cache-Control", "no-cache")
	c.Response.Header.Set("X-Accel-Buffering", "no")
	c.Response.SetBodyStream(&spout{f: f, conn: c.Conn(), enc: enc, as: as, first: first}, -1)
	return nil
}

// silence waits for the first item, so that a turn that fails at once gets a
// status, not a stream. It gives up when it is time for a sign of life, unless
// the turn may still be refused.
func (f *flight) silence() (first item) {
	early := time.NewTimer(f.s.pingEvery)
	defer early.Stop()
	for {
		select {
		case first = <-f.out:
			return first
		case <-f.ctx.Done():
			first.err = context.Cause(f.ctx)
			return first
		case now := <-early.C:
			switch rest := f.opens(now); {
			case rest == 0:
				return first
			case rest > 0:
				early.Reset(min(rest, max(f.s.pingEvery, silenceStep)))
			}
		}
	}
}

// silenceStep is how often it is looked whether a turn still waits.
const silenceStep = 50 * time.Millisecond

// emit writes a stream and lands the flight, also when that panics: then
// the client gets the dialect's last event if the encoder still makes one.
func (f *flight) emit(out *sink, enc dialect.Encoder, as *answers, first item) {
	var crash error
	func() {
		defer as.crashed(&crash)
		f.pour(out, enc, as, first)
		as.land(as.err)
	}()
	if crash == nil {
		return
	}
	defer as.crashed(&crash)
	out.write(enc.Event(nil, turn.Event{Kind: turn.Fail, Err: f.problem(crash)}))
}

// pour writes events until the answer ends or the client is gone; either way
// as.over is set. A client that stops reading blocks the flush, so fly blocks
// on its channel and the worker on its socket; after Options.Patience it
// counts as gone.
//
// The request context is not used here: it belongs to the next request by
// then.
func (f *flight) pour(out *sink, enc dialect.Encoder, as *answers, first item) {
	if n := len(f.marks); n > 0 {
		enc.Mark(f.marks[n-1].Tokens)
	}
	buf := enc.Open(f.annotate(make([]byte, 0, 4096)), turn.Usage{Prompt: f.asked, Cached: f.predicted()})
	buf = as.encode(buf, enc, first)
	quiet := time.NewTicker(f.s.pingEvery)
	defer quiet.Stop()
	for {
		for more := !as.over && len(buf) < 32<<10; more; {
			select {
			case it := <-f.out:
				buf = as.encode(buf, enc, it)
				more = !as.over && len(buf) < 32<<10
			default:
				more = false
			}
		}
		if !out.write(buf) {
			as.over, as.err = true, errLeft
			return
		}
		if as.over {
			return
		}
		select {
		case it := <-f.out:
			buf = as.encode(buf[:0], enc, it)
		case now := <-quiet.C:
			if buf = buf[:0]; now.Sub(out.wrote) >= f.s.pingEvery/2 { // what writes nothing is no sign of life
				buf = enc.Ping(buf)
			}
		case <-f.ctx.Done():
			buf = as.encode(buf[:0], enc, item{err: context.Cause(f.ctx)})
		}
	}
}
