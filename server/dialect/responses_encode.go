package dialect

import (
	"bytes"

	"github.com/agentinfer/dyn/turn"
)

// Problem returns an error document.
func (responses) Problem(p *Problem, _ string) []byte {
	return appendOpenAIError(nil, p, turn.Responses)
}

// Stream returns the encoder of one answer.
func (responses) Stream(t *turn.Turn) Encoder { return newResponsesEncoder(t) }

// responsesEncoder writes the events of one response. It holds the answer,
// escaped, until the end: the API repeats each item when it is done and all
// of them at the end.
type responsesEncoder struct {
	object // how the response object looks
	tools  []turn.Tool
	seq    int
	opened bool
	ended  bool

	item   item
	text   []byte // escaped text, or arguments, of the open item
	items  int    // items that are done
	output []byte // those items, joined by commas
}

func newResponsesEncoder(t *turn.Turn) *responsesEncoder {
	return &responsesEncoder{object: newObject(t), tools: t.Tools}
}

func (e *responsesEncoder) Mark(int) {}

// Ping repeats response.in_progress: Codex counts data events only. Before
// Open it opens the response, since clients want response.created first.
func (e *responsesEncoder) Ping(dst []byte) []byte {
	if e.ended {
		return dst
	}
	if !e.opened {
		return e.Open(dst, turn.Usage{})
	}
	dst = e.begin(dst, "response.in_progress")
	dst = append(e.appendShort(append(dst, `,"response":`...)), '}')
	return append(dst, "\n\n"...)
}

// Open writes response.created and response.in_progress, once.
func (e *responsesEncoder) Open(dst []byte, _ turn.Usage) []byte {
	if e.opened {
		return dst
	}
	e.opened = true
	for _, name := range []string{"response.created", "response.in_progress"} {
		dst = e.begin(dst, name)
		dst = e.appendObject(append(dst, `,"response":`...), result{status: "in_progress"})
		dst = append(dst, "}\n\n"...)
	}
	return dst
}

func (e *responsesEncoder) Event(dst []byte, ev turn.Event) []byte {
	if e.ended {
		return dst
	}
	dst = e.Open(dst, turn.Usage{})
	switch ev.Kind {
	case turn.Reasoning, turn.Says:
		if ev.Text != "" {
			dst = e.delta(e.start(dst, ev.Kind, ev.Call), ev.Text)
		}
	case turn.CallStart:
		dst = e.start(e.done(dst, "completed"), turn.CallStart, ev.Call)
	case turn.CallArgs:
		if ev.Text != "" && e.item.open && e.item.kind == turn.CallStart {
			dst = e.arguments(dst, ev.Text)
		}
	case turn.CallEnd:
		if e.item.kind == turn.CallStart {
			dst = e.done(dst, "completed")
		}
	case turn.Finish, turn.Fail:
		dst = e.finish(dst, ev)
	}
	return dst
}

// begin begins an event, up to its own fields.
func (e *responsesEncoder) begin(dst []byte, name string) []byte {
	dst = append(append(dst, "event: "...), name...)
	dst = append(append(dst, "\ndata: {\"type\":\""...), name...)
	dst = appendInt(append(dst, `","sequence_number":`...), int64(e.seq))
	e.seq++
	return dst
}

// about begins an event about the open item.
func (e *responsesEncoder) about(dst []byte, name string) []byte {
	dst = append(e.begin(dst, name), `,"item_id":"`...)
	dst = append(append(dst, e.item.id...), `","output_index":`...)
	return appendInt(dst, int64(e.items))
}

// start opens an item of the kind, unless it is the open one.
func (e *responsesEncoder) start(dst []byte, kind turn.EventKind, c turn.Call) []byte {
	if e.item.open && e.item.kind == kind {
		return dst
	}
	dst = e.done(dst, "completed")
	e.text = e.text[:0]
	e.item = e.newItem(kind, c)
	dst = appendInt(append(e.begin(dst, "response.output_item.added"), `,"output_index":`...), int64(e.items))
	dst = e.item.append(append(dst, `,"item":`...), "in_progress", nil, false)
	dst = append(dst, "}\n\n"...)
	if w := e.item.words; w.partAdded != "" {
		dst = append(e.about(dst, w.partAdded), w.index...)
		dst = e.item.appendPart(append(dst, `,"part":`...), nil)
		dst = append(dst, "}\n\n"...)
	}
	return dst
}

// delta writes a piece of the open item's text.
func (e *responsesEncoder) delta(dst []byte, text string) []byte {
	w := e.item.words
	dst = append(append(e.about(dst, w.delta), w.index...), `,"delta":"`...)
	from := len(dst)
	dst = appendEscaped(dst, text)
	e.text = append(e.text, dst[from:]...)
	if e.item.kind == turn.Reasoning {
		e.item.seal.write(text)
	}
	return append(append(append(dst, '"'), w.extra...), "}\n\n"...)
}

// arguments writes a piece of the open call's arguments; of those of a
// free-text tool, the text inside them.
func (e *responsesEncoder) arguments(dst []byte, text string) []byte {
	if e.item.tool.Custom {
		text = e.item.free.push(text)
	}
	if text == "" {
		return dst
	}
	return e.delta(dst, text)
}

// done ends the open item, if there is one.
func (e *responsesEncoder) done(dst []byte, status string) []byte {
	if !e.item.open {
		return dst
	}
	if e.item.kind == turn.CallStart {
		dst = e.wholeCall(dst)
	}
	w := e.item.words
	dst = append(append(e.about(dst, w.done), w.index...), `,"`...)
	dst = append(append(dst, w.field...), `":"`...)
	dst = append(append(append(dst, e.text...), '"'), w.extra...)
	dst = append(dst, "}\n\n"...)
	if w.partDone != "" {
		dst = append(e.about(dst, w.partDone), w.index...)
		dst = e.item.appendPart(append(dst, `,"part":`...), e.text)
		dst = append(dst, "}\n\n"...)
	}
	dst = appendInt(append(e.begin(dst, "response.output_item.done"), `,"output_index":`...), int64(e.items))
	dst = append(dst, `,"item":`...)
	from := len(dst)
	dst = e.item.append(dst, status, e.text, true)
	e.output = append(comma(e.output, e.items), dst[from:]...)
	e.items++
	e.item.open = false
	return append(dst, "}\n\n"...)
}

// wholeCall writes what a call still lacks: text that was held, or empty
// arguments.
func (e *responsesEncoder) wholeCall(dst []byte) []byte {
	text := ""
	switch {
	case e.item.tool.Custom:
		text = e.item.free.rest()
	case len(e.text) == 0:
		text = "{}"
	}
	if text == "" {
		return dst
	}
	return e.delta(dst, text)
}

// finish ends the response: completed, incomplete or failed.
func (e *responsesEncoder) finish(dst []byte, ev turn.Event) []byte {
	r := result{status: "completed", usage: &ev.Usage}
	name := "response.completed"
	p := ending(ev)
	switch {
	case p != nil:
		name, r.status, r.problem, r.usage = "response.failed", "failed", p, nil
	case ev.Reason == turn.Cut:
		name, r.status = "response.incomplete", "incomplete"
	}
	status := "completed"
	if r.status != "completed" {
		status = "incomplete"
	}
	dst = e.done(dst, status)
	e.ended = true
	r.output = e.output
	dst = append(e.begin(dst, name), `,"response":`...)
	return append(e.appendObject(dst, r), "}\n\n"...)
}

// Document returns the collector of one answer: what the stream's last event
// would hold.
func (responses) Document(t *turn.Turn) Document {
	return &responsesDocument{enc: newResponsesEncoder(t)}
}

type responsesDocument struct {
	enc  *responsesEncoder
	wire []byte
	last turn.Event
}

func (d *responsesDocument) Mark(int) {}

func (d *responsesDocument) Add(e turn.Event) {
	if d.enc.ended {
		return
	}
	d.wire, d.last = d.enc.Event(d.wire[:0], e), e
}

func (d *responsesDocument) JSON() (int, []byte) {
	p := &Problem{Kind: Internal, Message: "the answer has no end"}
	if d.enc.ended {
		p = ending(d.last)
	}
	if p != nil {
		return p.Status(), appendOpenAIError(nil, p, turn.Responses)
	}
	r := result{status: "completed", usage: &d.last.Usage, output: d.enc.output}
	if d.last.Reason == turn.Cut {
		r.status = "incomplete"
	}
	return 200, bytes.Clone(d.enc.appendObject(d.wire[:0], r))
}
