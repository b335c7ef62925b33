package dialect

import "github.com/agentinfer/dyn/turn"

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
	logs   bool // log probabilities were asked for
	seq    int
	opened bool
	ended  bool

	blocks blocks
	item   item
	text   []byte         // escaped text, or arguments, of the open item
	probs  []turn.Logprob // for the next piece of text
	status string         // of items that end now
	output []byte         // items that are done, joined by commas
}

func newResponsesEncoder(t *turn.Turn) *responsesEncoder {
	return &responsesEncoder{object: newObject(t), tools: t.Tools, logs: t.Sampling.Logprobs, status: "completed"}
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
	e.probs = append(e.probs, ev.Logprobs...)
	switch ev.Kind {
	case turn.Finish, turn.Fail:
		return e.finish(dst, ev)
	}
	return e.blocks.event(dst, e, &ev)
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
	return appendInt(dst, int64(e.blocks.index))
}

// open writes output_item.added, and content_part.added for items of parts.
func (e *responsesEncoder) open(dst []byte, b *block) []byte {
	e.text = e.text[:0]
	e.item = e.newItem(b)
	dst = appendInt(append(e.begin(dst, "response.output_item.added"), `,"output_index":`...), int64(b.index))
	dst = e.item.append(append(dst, `,"item":`...), "in_progress", nil, false)
	dst = append(dst, "}\n\n"...)
	if w := e.item.words; w.partAdded != "" {
		dst = append(e.about(dst, w.partAdded), w.index...)
		dst = e.item.appendPart(append(dst, `,"part":`...), nil)
		dst = append(dst, "}\n\n"...)
	}
	return dst
}

// piece writes a piece of the open item; of the arguments of a free-text
// tool, the text inside them.
func (e *responsesEncoder) piece(dst []byte, b *block, text string) []byte {
	if b.kind == turn.CallStart && e.item.tool.Custom {
		text = e.item.free.push(text)
	}
	if text == "" {
		return dst
	}
	return e.delta(dst, text)
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
	dst = append(dst, '"')
	if w == &messageWords {
		dst = append(dst, `,"logprobs":[`...)
		dst = append(e.probabilities(dst), ']')
	}
	return append(dst, "}\n\n"...)
}

// probabilities appends those of the tokens that came since the last piece of
// text, where they were asked for, and keeps them for the whole item.
func (e *responsesEncoder) probabilities(dst []byte) []byte {
	if !e.logs || len(e.probs) == 0 {
		return dst
	}
	from := len(dst)
	dst = appendLogprobs(dst, e.probs)
	e.item.logs = append(comma(e.item.logs, len(e.item.logs)), dst[from:]...)
	e.probs = e.probs[:0]
	return dst
}

// close ends the open item.
func (e *responsesEncoder) close(dst []byte, b *block) []byte {
	if b.kind == turn.CallStart {
		dst = e.wholeCall(dst)
	}
	w := e.item.words
	dst = append(append(e.about(dst, w.done), w.index...), `,"`...)
	dst = append(append(dst, w.field...), `":"`...)
	dst = append(append(dst, e.text...), '"')
	switch {
	case w == &messageWords:
		dst = append(append(append(dst, `,"logprobs":[`...), e.item.logs...), ']')
	case w == &callWords:
		dst = appendString(append(dst, `,"name":`...), e.item.tool.Bare)
	}
	dst = append(dst, "}\n\n"...)
	if w.partDone != "" {
		dst = append(e.about(dst, w.partDone), w.index...)
		dst = e.item.appendPart(append(dst, `,"part":`...), e.text)
		dst = append(dst, "}\n\n"...)
	}
	dst = appendInt(append(e.begin(dst, "response.output_item.done"), `,"output_index":`...), int64(b.index))
	dst = append(dst, `,"item":`...)
	from := len(dst)
	dst = e.item.append(dst, e.status, e.text, true)
	e.output = append(comma(e.output, b.index), dst[from:]...)
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
		text = emptyArgs
	}
	if text == "" {
		return dst
	}
	return e.delta(dst, text)
}

// conclude ends all items, and returns how the response stands then.
func (e *responsesEncoder) conclude(dst []byte, ev *turn.Event) ([]byte, result) {
	r := result{status: "completed", usage: &ev.Usage, extra: ev.Extra}
	switch p := Ended(*ev); {
	case p != nil:
		r.status, r.problem, r.usage = "failed", p, nil
	case ev.Reason == turn.Cut:
		r.status = "incomplete"
	}
	if r.status != "completed" {
		e.status = "incomplete"
	}
	dst = e.blocks.event(dst, e, ev)
	e.ended = true
	r.output = e.output
	return dst, r
}

// finish ends the response: completed, incomplete or failed.
func (e *responsesEncoder) finish(dst []byte, ev turn.Event) []byte {
	dst, r := e.conclude(dst, &ev)
	dst = append(e.begin(dst, "response."+r.status), `,"response":`...)
	return append(e.appendObject(dst, r), "}\n\n"...)
}

// Document returns the collector of one answer: what the stream's last event
// would hold.
func (responses) Document(t *turn.Turn) Document {
	d := &responsesDocument{enc: newResponsesEncoder(t), wire: make([]byte, 0, 2<<10)}
	d.enc.opened = true // nobody reads the events
	return d
}

type responsesDocument struct {
	enc  *responsesEncoder
	wire []byte // events that nobody reads
	last turn.Event
	end  result
}

func (d *responsesDocument) Mark(int) {}

func (d *responsesDocument) Add(e turn.Event) {
	if d.enc.ended {
		return
	}
	switch e.Kind {
	case turn.Finish, turn.Fail:
		d.last = e
		d.enc.probs = append(d.enc.probs, e.Logprobs...)
		d.wire, d.end = d.enc.conclude(d.wire[:0], &d.last)
	default:
		d.wire = d.enc.Event(d.wire[:0], e)
	}
}

func (d *responsesDocument) JSON() (int, []byte) {
	p := d.end.problem
	if !d.enc.ended {
		p = &Problem{Kind: Internal, Message: "the answer has no end"}
	}
	if p != nil {
		return p.StatusFor(turn.Responses), appendOpenAIError(nil, p, turn.Responses)
	}
	room := 1024 + len(d.enc.echo) + len(d.end.output) + len(d.end.extra)
	return 200, d.enc.appendObject(make([]byte, 0, room), d.end)
}
