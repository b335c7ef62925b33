package dialect

import (
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Problem returns an error document.
func (chat) Problem(p *Problem, _ string) []byte {
	return appendOpenAIError(nil, p, turn.Chat)
}

// Stream returns the encoder of one answer, or of as many as the turn wants.
func (chat) Stream(t *turn.Turn) Encoder {
	n := max(t.N, 1)
	return &chatEncoder{
		head: appendChatHead(make([]byte, 0, 160), t, "chat.completion.chunk"), usage: t.IncludeUsage,
		choices: make([]chatChoice, n), left: n,
	}
}

// appendChatHead appends the beginning of a chunk or document, up to its
// choices.
func appendChatHead(b []byte, t *turn.Turn, object string) []byte {
	b = appendString(append(b, `{"id":`...), answerID("chatcmpl-", t))
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
	head    []byte
	usage   bool
	opened  bool
	choices []chatChoice
	at      int // the choice that is written
	left    int // choices that have not ended
	total   turn.Usage
}

// chatChoice is one of the answers.
type chatChoice struct {
	blocks
	ended bool
	probs []turn.Logprob // for the next chunk
}

func (e *chatEncoder) Mark(int) {}

// Ping writes a chunk that changes nothing: comments do not count with
// clients that wait for parsed events, see docs/decisions/017.
func (e *chatEncoder) Ping(dst []byte) []byte {
	if e.left == 0 {
		return dst
	}
	for e.choices[e.at].ended { // one that still goes on
		e.at = (e.at + 1) % len(e.choices)
	}
	return e.end(e.begin(dst))
}

// Open writes the chunk with the role, of each choice, once.
func (e *chatEncoder) Open(dst []byte, _ turn.Usage) []byte {
	if e.opened {
		return dst
	}
	e.opened = true
	for e.at = range e.choices {
		dst = e.end(append(e.begin(dst), `"role":"assistant","content":""`...))
	}
	return dst
}

func (e *chatEncoder) Event(dst []byte, ev turn.Event) []byte {
	if e.left == 0 || ev.Choice < 0 || ev.Choice >= len(e.choices) || e.choices[ev.Choice].ended {
		return dst
	}
	if !e.opened && ev.Kind != turn.Fail {
		dst = e.Open(dst, ev.Usage)
	}
	e.at = ev.Choice
	c := &e.choices[e.at]
	c.probs = append(c.probs, ev.Logprobs...)
	dst = c.event(dst, e, &ev)
	if len(c.probs) > 0 && ev.Kind != turn.Finish && ev.Kind != turn.Fail {
		dst = e.end(e.begin(dst)) // of tokens that made no chunk
	}
	switch p := Ended(ev); {
	case ev.Kind != turn.Finish && ev.Kind != turn.Fail:
	case p != nil:
		dst = e.fail(dst, p)
	default:
		dst = e.finish(dst, ev)
	}
	return dst
}

// begin begins a chunk, up to the inside of its delta.
func (e *chatEncoder) begin(dst []byte) []byte {
	dst = append(append(dst, "data: "...), e.head...)
	dst = appendInt(append(dst, `{"index":`...), int64(e.at))
	return append(dst, `,"delta":{`...)
}

// end ends a chunk that does not finish an answer.
func (e *chatEncoder) end(dst []byte) []byte {
	return append(e.probabilities(append(dst, '}')), ",\"finish_reason\":null}]}\n\n"...)
}

// probabilities appends those that wait for a chunk.
func (e *chatEncoder) probabilities(dst []byte) []byte {
	c := &e.choices[e.at]
	if len(c.probs) == 0 {
		return dst
	}
	dst = appendLogprobs(append(dst, `,"logprobs":{"content":[`...), c.probs)
	c.probs = c.probs[:0]
	return append(dst, "]}"...)
}

// open writes the chunk that names a call.
func (e *chatEncoder) open(dst []byte, b *block) []byte {
	if b.kind != turn.CallStart {
		return dst
	}
	dst = appendInt(append(e.begin(dst), `"tool_calls":[{"index":`...), int64(b.nth))
	dst = appendString(append(dst, `,"id":`...), callID(b.call, turn.Chat))
	dst = appendString(append(dst, `,"type":"function","function":{"name":`...), b.call.Name)
	return e.end(append(dst, `,"arguments":""}}]`...))
}

func (e *chatEncoder) piece(dst []byte, b *block, text string) []byte {
	dst = e.begin(dst)
	switch b.kind {
	case turn.CallStart:
		dst = appendInt(append(dst, `"tool_calls":[{"index":`...), int64(b.nth))
		dst = appendString(append(dst, `,"function":{"arguments":`...), text)
		return e.end(append(dst, "}}]"...))
	case turn.Reasoning:
		dst = append(dst, `"reasoning_content":"`...)
	default:
		dst = append(dst, `"content":"`...)
	}
	return e.end(append(appendEscaped(dst, text), '"'))
}

func (e *chatEncoder) close(dst []byte, b *block) []byte {
	if b.kind == turn.CallStart && !b.some {
		return e.piece(dst, b, emptyArgs)
	}
	return dst
}

// finish writes the chunk with the reason; of the last answer also the usage,
// where it was asked for, and the mark of the end.
func (e *chatEncoder) finish(dst []byte, ev turn.Event) []byte {
	c := &e.choices[e.at]
	dst = e.probabilities(append(e.begin(dst), '}'))
	dst = append(append(dst, `,"finish_reason":"`...), chatReason(ev, c.calls)...)
	dst = append(appendExtra(append(dst, `"}]`...), ev.Extra), "}\n\n"...)
	c.ended = true
	e.left--
	e.total = addUsage(e.total, ev)
	if e.left > 0 {
		return dst
	}
	if e.usage {
		dst = append(append(dst, "data: "...), e.head...)
		dst = append(dst, `],"usage":`...)
		dst = append(appendChatUsage(dst, e.total), "}\n\n"...)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

// fail writes an error and the mark of the end, for all answers.
func (e *chatEncoder) fail(dst []byte, p *Problem) []byte {
	e.left = 0
	dst = appendOpenAIError(append(dst, "data: "...), p, turn.Chat)
	return append(dst, "\n\ndata: [DONE]\n\n"...)
}

// addUsage adds the usage of one of a turn's answers. They have the prompt in
// common, and what the first one found cached of it counts.
func addUsage(sum turn.Usage, ev turn.Event) turn.Usage {
	if ev.Choice == 0 || sum.Prompt == 0 {
		sum.Prompt, sum.Cached = ev.Usage.Prompt, ev.Usage.Cached
	}
	sum.Output += ev.Usage.Output
	sum.Thinking += ev.Usage.Thinking
	return sum
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
