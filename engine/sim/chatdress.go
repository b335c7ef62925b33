package sim

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/agentinfer/dyn/engine/sim/core"
	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/turn"
)

// chatDress is how the answer to one chat is written.
type chatDress struct {
	s      *server
	c      *completion
	prompt int
	id     string
	reader *parsers.Stream
	events []turn.Event
	began  time.Time
	made   int
	cached int
	calls  int
}

// read takes a piece and returns what it says.
func (d *chatDress) read(p *core.Piece) []turn.Event {
	d.made += len(p.IDs)
	d.cached = p.Cached
	d.events = d.reader.Push(d.events[:0], string(p.Text))
	if p.End != nil {
		if p.End.Reason == core.Length {
			d.reader.Cut()
		}
		d.events = d.reader.Close(d.events)
	}
	return d.events
}

// stream writes the answer as server-sent events.
func (d *chatDress) stream(ctx context.Context, w http.ResponseWriter, a *core.Answer) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	w.WriteHeader(http.StatusOK)
	buf := d.chunk(nil, `{"role":"assistant","content":""}`, nil)
	var p core.Piece
	for done := false; !done; {
		if _, err := w.Write(buf); err != nil || out.Flush() != nil {
			return
		}
		p.End = &core.End{Reason: core.Aborted, StopID: -1}
		if a != nil {
			p.End = nil
			err := a.Next(ctx, &p)
			switch {
			case errors.Is(err, core.ErrDead):
				_, _ = w.Write([]byte(deadChunk + "data: [DONE]\n\n"))
				return
			case errors.Is(err, core.ErrCut):
				panic(http.ErrAbortHandler)
			case err != nil:
				return
			}
		}
		buf, done = buf[:0], p.End != nil
		for _, e := range d.read(&p) {
			if delta := d.delta(e); delta != "" {
				buf = d.chunk(buf, delta, nil)
			}
		}
		if done {
			buf = d.chunk(buf, `{"content":""}`, p.End)
		}
	}
	if d.c.usage {
		buf = append(append(append(buf, "data: "...), d.head("chat.completion.chunk")...), `"choices":[],`...)
		buf = append(append(buf, d.usage()...), "}\n\n"...)
	}
	_, _ = w.Write(append(buf, "data: [DONE]\n\n"...))
}

// head is the start that all objects of one answer share.
func (d *chatDress) head(object string) string {
	return `{"id":` + quote(d.id) + `,"object":"` + object + `","created":` + strconv.FormatInt(d.began.Unix(), 10) +
		`,"model":` + quote(d.s.o.name) + `,`
}

// chunk appends the event of a delta.
func (d *chatDress) chunk(b []byte, delta string, end *core.End) []byte {
	b = append(append(append(b, "data: "...), d.head("chat.completion.chunk")...), `"choices":[{"index":0,"delta":`...)
	b = append(append(b, delta...), `,"logprobs":null,"finish_reason":`...)
	b = append(append(b, d.finish(end)...), `,"token_ids":null}]}`...)
	return append(b, "\n\n"...)
}

// finish is how an answer ended, and by what.
func (d *chatDress) finish(end *core.End) string {
	if end == nil {
		return "null"
	}
	reason, by := string(end.Reason), "null"
	switch {
	case end.StopText != "":
		by = quote(end.StopText)
	case end.StopID >= 0:
		by = strconv.Itoa(end.StopID)
	case d.calls > 0 && reason == "stop":
		reason = "tool_calls"
	}
	return quote(reason) + `,"stop_reason":` + by
}

// delta is an event as one; "" for those that are none.
func (d *chatDress) delta(e turn.Event) string {
	at := strconv.Itoa(e.Call.Index)
	switch e.Kind {
	case turn.Says:
		return `{"content":` + quote(e.Text) + `}`
	case turn.Reasoning:
		return `{"reasoning":` + quote(e.Text) + `}`
	case turn.CallStart:
		d.calls++
		return `{"tool_calls":[{"id":` + quote(e.Call.ID) + `,"type":"function","index":` + at +
			`,"function":{"name":` + quote(e.Call.Name) + `,"arguments":""}}]}`
	case turn.CallArgs:
		return `{"tool_calls":[{"index":` + at + `,"function":{"arguments":` + quote(e.Text) + `}}]}`
	}
	return ""
}

func (d *chatDress) usage() string {
	n := strconv.Itoa
	return `"usage":{"prompt_tokens":` + n(d.prompt) + `,"total_tokens":` + n(d.prompt+d.made) + `,"completion_tokens":` + n(d.made) +
		`,"prompt_tokens_details":{"cached_tokens":` + n(d.cached) + `}},"system_fingerprint":` + quote(d.s.print)
}

// said is an answer, whole.
type said struct {
	text, reasoning string
	calls           []saidCall
}

type saidCall struct{ id, name, args string }

func (a *said) add(e turn.Event) {
	switch e.Kind {
	case turn.Says:
		a.text += e.Text
	case turn.Reasoning:
		a.reasoning += e.Text
	case turn.CallStart:
		a.calls = append(a.calls, saidCall{id: e.Call.ID, name: e.Call.Name})
	case turn.CallArgs:
		a.calls[len(a.calls)-1].args += e.Text
	}
}

// json is the message.
func (a *said) json() string {
	reasoning := "null"
	if a.reasoning != "" {
		reasoning = quote(a.reasoning)
	}
	m := `{"role":"assistant","content":` + quote(a.text) + `,"reasoning":` + reasoning
	for i, c := range a.calls {
		m += [2]string{`,"tool_calls":[`, `,`}[min(i, 1)] + `{"id":` + quote(c.id) + `,"type":"function","function":{"name":` +
			quote(c.name) + `,"arguments":` + quote(c.args) + `}}`
	}
	if len(a.calls) > 0 {
		m += "]"
	}
	return m + "}"
}

// document writes the answer in one piece.
func (d *chatDress) document(ctx context.Context, w http.ResponseWriter, a *core.Answer) {
	p := core.Piece{End: &core.End{Reason: core.Aborted, StopID: -1}}
	if a != nil {
		p.End = nil
	}
	var all said
	for p.End == nil {
		err := a.Next(ctx, &p)
		switch {
		case errors.Is(err, core.ErrDead):
			errDead.write(w)
			return
		case errors.Is(err, core.ErrCut):
			panic(http.ErrAbortHandler)
		case err != nil:
			return
		}
		for _, e := range d.read(&p) {
			all.add(e)
		}
	}
	d.calls = len(all.calls)
	writeJSON(w, http.StatusOK, d.head("chat.completion")+`"choices":[{"index":0,"message":`+all.json()+
		`,"logprobs":null,"finish_reason":`+d.finish(p.End)+`,"token_ids":null}],"service_tier":null,`+d.usage()+`}`)
}
