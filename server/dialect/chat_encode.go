package dialect

import (
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Problem returns an error document.
func (chat) Problem(p *Problem, _ string) []byte {
	return appendOpenAIError(nil, p, turn.Chat)
}

// Stream returns the encoder of one answer.
func (chat) Stream(t *turn.Turn) Encoder {
	return &chatEncoder{head: chatHead(t, "chat.completion.chunk"), usage: t.IncludeUsage}
}

// chatHead returns the beginning of a chunk or document, up to its choices.
func chatHead(t *turn.Turn, object string) []byte {
	b := appendString([]byte(`{"id":`), answerID("chatcmpl-", t))
	b = appendString(append(b, `,"object":`...), object)
	b = appendInt(append(b, `,"created":`...), created(t))
	b = appendString(append(b, `,"model":`...), t.Model)
	return append(b, `,"choices":[`...)
}

// created returns the second in which a turn came.
func created(t *turn.Turn) int64 {
	if t.Arrived.IsZero() {
		return time.Now().Unix()
	}
	return t.Arrived.Unix()
}

// chatEncoder writes chunks. All begin with the same head.
type chatEncoder struct {
	head          []byte
	usage         bool
	opened, ended bool
	calls         int
	inCall, args  bool
}

func (e *chatEncoder) Mark(int) {}

// Ping writes a chunk that changes nothing: comments do not count with
// clients that wait for parsed events.
func (e *chatEncoder) Ping(dst []byte) []byte {
	if e.ended {
		return dst
	}
	return e.end(e.begin(dst))
}

// Open writes the chunk with the role, once.
func (e *chatEncoder) Open(dst []byte, _ turn.Usage) []byte {
	if e.opened {
		return dst
	}
	e.opened = true
	return e.end(append(e.begin(dst), `"role":"assistant","content":""`...))
}

func (e *chatEncoder) Event(dst []byte, ev turn.Event) []byte {
	if e.ended {
		return dst
	}
	if !e.opened && ev.Kind != turn.Fail {
		dst = e.Open(dst, ev.Usage)
	}
	switch ev.Kind {
	case turn.Reasoning:
		dst = e.text(dst, `"reasoning_content":"`, ev.Text)
	case turn.Says:
		dst = e.text(dst, `"content":"`, ev.Text)
	case turn.CallStart:
		dst = e.call(e.endCall(dst), ev.Call)
	case turn.CallArgs:
		dst = e.arguments(dst, ev.Text)
	case turn.CallEnd:
		dst = e.endCall(dst)
	case turn.Finish, turn.Fail:
		dst = e.finish(e.endCall(dst), ev)
	}
	return dst
}

// begin begins a chunk, up to the inside of its delta.
func (e *chatEncoder) begin(dst []byte) []byte {
	dst = append(append(dst, "data: "...), e.head...)
	return append(dst, `{"index":0,"delta":{`...)
}

// end ends a chunk that does not finish the answer.
func (e *chatEncoder) end(dst []byte) []byte {
	return append(dst, "},\"finish_reason\":null}]}\n\n"...)
}

func (e *chatEncoder) text(dst []byte, field, text string) []byte {
	if text == "" {
		return dst
	}
	dst = append(e.begin(e.endCall(dst)), field...)
	return e.end(append(appendEscaped(dst, text), '"'))
}

func (e *chatEncoder) call(dst []byte, c turn.Call) []byte {
	e.calls++
	e.inCall, e.args = true, false
	dst = appendInt(append(e.begin(dst), `"tool_calls":[{"index":`...), int64(e.calls-1))
	dst = appendString(append(dst, `,"id":`...), callID(c, turn.Chat))
	dst = appendString(append(dst, `,"type":"function","function":{"name":`...), c.Name)
	return e.end(append(dst, `,"arguments":""}}]`...))
}

func (e *chatEncoder) arguments(dst []byte, text string) []byte {
	if text == "" || !e.inCall {
		return dst
	}
	e.args = true
	dst = appendInt(append(e.begin(dst), `"tool_calls":[{"index":`...), int64(e.calls-1))
	dst = appendString(append(dst, `,"function":{"arguments":`...), text)
	return e.end(append(dst, "}}]"...))
}

// endCall ends the open call. One without arguments gets empty ones, which
// clients parse.
func (e *chatEncoder) endCall(dst []byte) []byte {
	if e.inCall && !e.args {
		dst = e.arguments(dst, "{}")
	}
	e.inCall = false
	return dst
}

// finish writes the chunk with the reason, the usage where it was asked for,
// and the mark of the end; or an error and that mark.
func (e *chatEncoder) finish(dst []byte, ev turn.Event) []byte {
	e.ended = true
	if p := ending(ev); p != nil {
		dst = appendOpenAIError(append(dst, "data: "...), p, turn.Chat)
		return append(dst, "\n\ndata: [DONE]\n\n"...)
	}
	dst = append(append(e.begin(dst), `},"finish_reason":"`...), chatReason(ev, e.calls)...)
	dst = append(dst, "\"}]}\n\n"...)
	if e.usage {
		dst = append(append(dst, "data: "...), e.head...)
		dst = append(dst, `],"usage":`...)
		dst = append(appendChatUsage(dst, ev.Usage), "}\n\n"...)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

// chatReason words why an answer ended. Clients run calls only under
// tool_calls, so that comes before all but a cut.
func chatReason(ev turn.Event, calls int) string {
	switch {
	case ev.Reason == turn.Cut:
		return "length"
	case calls > 0:
		return "tool_calls"
	}
	return "stop"
}

func appendChatUsage(dst []byte, u turn.Usage) []byte {
	dst = appendInt(append(dst, `{"prompt_tokens":`...), int64(u.Prompt))
	dst = appendInt(append(dst, `,"completion_tokens":`...), int64(u.Output))
	dst = appendInt(append(dst, `,"total_tokens":`...), int64(u.Prompt+u.Output))
	dst = appendInt(append(dst, `,"prompt_tokens_details":{"cached_tokens":`...), int64(u.Cached))
	dst = appendInt(append(dst, `},"completion_tokens_details":{"reasoning_tokens":`...), int64(u.Thinking))
	return append(dst, "}}"...)
}
