package dialect

import "github.com/agentinfer/dyn/turn"

// Problem returns an error document.
func (messages) Problem(p *Problem, requestID string) []byte {
	return appendAnthropicError(nil, p, requestID)
}

// Stream returns the encoder of one answer.
func (messages) Stream(t *turn.Turn) Encoder {
	return &messagesEncoder{
		id: answerID("msg_", t), model: t.Model, request: t.ID,
		prompt: newMarked(t), seal: seal{omitted: t.Thinking.Omitted},
	}
}

// messagesEncoder writes the events of one message.
type messagesEncoder struct {
	id, model, request string
	prompt             marked
	seal               seal

	blocks
	opened, ended bool
}

func (e *messagesEncoder) Mark(tokens int) { e.prompt.mark = tokens }

func (e *messagesEncoder) Ping(dst []byte) []byte {
	if e.ended {
		return dst
	}
	return append(dst, "event: ping\ndata: {\"type\":\"ping\"}\n\n"...)
}

// Open writes message_start, once.
func (e *messagesEncoder) Open(dst []byte, u turn.Usage) []byte {
	if e.opened {
		return dst
	}
	e.opened = true
	dst = append(dst, `event: message_start`+"\n"+`data: {"type":"message_start","message":`...)
	dst = appendMessageHead(dst, e.id, e.model)
	dst = append(dst, `[],"stop_reason":null,"stop_sequence":null,"usage":`...)
	dst = e.prompt.appendUsage(dst, u)
	return append(dst, "}}\n\n"...)
}

// appendMessageHead appends a message object up to its content.
func appendMessageHead(dst []byte, id, model string) []byte {
	dst = appendString(append(dst, `{"id":`...), id)
	dst = appendString(append(dst, `,"type":"message","role":"assistant","model":`...), model)
	return append(dst, `,"content":`...)
}

func (e *messagesEncoder) Event(dst []byte, ev turn.Event) []byte {
	if e.ended {
		return dst
	}
	if !e.opened && ev.Kind != turn.Fail {
		dst = e.Open(dst, ev.Usage)
	}
	dst = e.event(dst, e, &ev)
	if ev.Kind == turn.Finish || ev.Kind == turn.Fail {
		dst = e.finish(dst, ev)
	}
	return dst
}

// open writes content_block_start.
func (e *messagesEncoder) open(dst []byte, b *block) []byte {
	dst = e.head(dst, "content_block_start")
	switch b.kind {
	case turn.Reasoning:
		e.seal.reset()
		dst = append(dst, `,"content_block":{"type":"thinking","thinking":"","signature":""}`...)
	case turn.CallStart:
		dst = appendString(append(dst, `,"content_block":{"type":"tool_use","id":`...), callID(b.call, turn.Messages))
		dst = appendString(append(dst, `,"name":`...), b.call.Name)
		dst = append(dst, `,"input":{}}`...)
	default:
		dst = append(dst, `,"content_block":{"type":"text","text":""}`...)
	}
	return append(dst, "}\n\n"...)
}

// piece writes content_block_delta, or keeps thinking that is to be omitted.
func (e *messagesEncoder) piece(dst []byte, b *block, text string) []byte {
	switch b.kind {
	case turn.Reasoning:
		if e.seal.write(text); e.seal.omitted {
			return dst
		}
		return e.delta(dst, "thinking_delta", "thinking", text)
	case turn.CallStart:
		return e.delta(dst, "input_json_delta", "partial_json", text)
	}
	return e.delta(dst, "text_delta", "text", text)
}

// close writes the signature of thinking, and content_block_stop.
func (e *messagesEncoder) close(dst []byte, b *block) []byte {
	switch {
	case b.kind == turn.Reasoning:
		dst = e.head(dst, "content_block_delta")
		dst = append(dst, `,"delta":{"type":"signature_delta","signature":"`...)
		dst = append(e.seal.append(dst), "\"}}\n\n"...)
	case b.kind == turn.CallStart && !b.some:
		dst = e.delta(dst, "input_json_delta", "partial_json", emptyArgs)
	}
	return append(e.head(dst, "content_block_stop"), "}\n\n"...)
}

// head begins an event about the open block.
func (e *messagesEncoder) head(dst []byte, name string) []byte {
	dst = append(append(dst, "event: "...), name...)
	dst = append(append(dst, "\ndata: {\"type\":\""...), name...)
	return appendInt(append(dst, `","index":`...), int64(e.index))
}

// delta writes a piece of the open block.
func (e *messagesEncoder) delta(dst []byte, typ, field, text string) []byte {
	dst = e.head(dst, "content_block_delta")
	dst = append(append(dst, `,"delta":{"type":"`...), typ...)
	dst = append(append(dst, `","`...), field...)
	dst = appendEscaped(append(dst, `":"`...), text)
	return append(dst, "\"}}\n\n"...)
}

// finish writes the end: message_delta and message_stop, or an error event.
func (e *messagesEncoder) finish(dst []byte, ev turn.Event) []byte {
	e.ended = true
	if p := Ended(ev); p != nil {
		dst = append(dst, "event: error\ndata: "...)
		return append(appendAnthropicError(dst, p, e.request), "\n\n"...)
	}
	dst = append(dst, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"...)
	dst = append(appendStop(dst, ev, e.calls), `},"usage":`...)
	dst = appendExtra(e.prompt.appendUsage(dst, ev.Usage), ev.Extra)
	dst = append(dst, "}\n\n"...)
	return append(dst, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
}

// appendStop appends the fields that tell why an answer ended. Clients run
// calls only under tool_use, so that comes before all but a cut.
func appendStop(dst []byte, ev turn.Event, calls int) []byte {
	reason, text := "end_turn", ""
	switch {
	case ev.Reason == turn.Cut:
		reason = "max_tokens"
	case calls > 0:
		reason = "tool_use"
	case ev.Reason == turn.Stopped:
		reason, text = "stop_sequence", ev.StopText
	}
	dst = append(append(dst, `"stop_reason":"`...), reason...)
	return appendOrNull(append(dst, `","stop_sequence":`...), text)
}

// appendExtra appends the nvext field, when there is something to tell.
func appendExtra(dst []byte, extra []byte) []byte {
	if len(extra) == 0 {
		return dst
	}
	return append(append(dst, `,"nvext":`...), extra...)
}

func callID(c turn.Call, d turn.Dialect) string {
	if c.ID == "" {
		return NewCallID(d)
	}
	return c.ID
}
