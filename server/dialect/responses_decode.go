package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// responses is the codec of POST /v1/responses.
type responses struct{}

func (responses) Dialect() turn.Dialect { return turn.Responses }

// Decode reads a body of POST /v1/responses.
func (responses) Decode(body []byte, header func(string) string, rc *Recall) (*turn.Turn, error) {
	return decode(turn.Responses, func(r *reader) form {
		return &responsesReader{reader: r.as(turn.Responses)}
	}, body, header, rc)
}

// DecodeInput reads a body of POST /v1/responses/input_tokens: a request that
// may have no input.
func DecodeInput(body []byte, header func(string) string) (*turn.Turn, error) {
	return decode(turn.Responses, func(r *reader) form {
		return &responsesReader{reader: r.as(turn.Responses), counts: true}
	}, body, header, nil)
}

// InputJSON returns the answer of input_tokens.
func InputJSON(tokens int) []byte {
	return append(appendInt([]byte(`{"object":"response.input_tokens","input_tokens":`), int64(tokens)), '}')
}

// responsesReader reads a responses body.
type responsesReader struct {
	*reader
	counts bool // the input may be absent
	limit1 bool // one token is asked for
}

func (r *responsesReader) base() *reader { return r.reader }

func (r *responsesReader) fields(t *turn.Turn, root tape.Value) {
	t.MaxTokens = r.limit(root, "max_output_tokens")
	r.limit1 = t.MaxTokens == 1
	t.OneCall = root.Key("parallel_tool_calls").Kind() == tape.False
	r.flag(root, "parallel_tool_calls")
	r.state(t, root)
	effort(t, r.text(r.field(root, "reasoning", tape.Object), "effort"))
	t.Format = r.flatFormat(r.field(r.field(root, "text", tape.Object), "format", tape.Object))
	alternatives := r.alternatives(root)
	for _, v := range r.field(root, "include", tape.Array).Elements() {
		if r.word(v) == "message.output_text.logprobs" {
			t.Sampling.Logprobs, t.Sampling.TopLogprobs = true, alternatives
		}
	}
	t.Echo = echo(root)
}

// state reads what the client wants kept, and what it goes on from. What other
// things would have to be kept here is refused: to drop such a field in
// silence would make the model forget what the client believes it knows.
func (r *responsesReader) state(t *turn.Turn, root tape.Value) {
	t.Store = r.flag(root, "store") || !root.Key("store").Given()
	t.Previous = r.text(root, "previous_response_id")
	if v := root.Key("conversation"); v.Given() {
		r.fail(v, "is not supported: conversations are not kept here, use previous_response_id or send the whole input")
	}
	if v := root.Key("prompt"); v.Given() {
		r.fail(v, "is not supported: prompts are not kept here, send their text as instructions and input")
	}
	if r.flag(root, "background") {
		r.fail(root.Key("background"), "is not supported: answers come with the request, ask with background false")
	}
}

// effort sets thinking by an OpenAI effort.
func effort(t *turn.Turn, level string) {
	switch level {
	case "":
	case "none":
		t.Thinking.Mode = "off"
	default:
		t.Thinking = turn.Thinking{Mode: "on", Effort: level}
	}
}

// lead returns the instructions.
func (r *responsesReader) lead(root tape.Value) []turn.Message {
	if text := r.text(root, "instructions"); text != "" {
		return []turn.Message{say(turn.System, text)}
	}
	return nil
}

// list returns the input. An empty list is a problem, unless one token is
// asked for: that is how Codex probes a server.
func (r *responsesReader) list(root tape.Value) (tape.Value, []turn.Message) {
	input := root.Key("input")
	switch input.Kind() {
	case tape.String:
		return input, []turn.Message{say(turn.User, input.Text())}
	case tape.None, tape.Null:
		if r.counts {
			return input, []turn.Message{say(turn.User, "")}
		}
		r.lacks(root, "input")
		return input, nil
	case tape.Array:
	default:
		r.fail(input, "must be a string or an array, not %s", kindName(input.Kind()))
		return input, nil
	}
	if input.Empty() && input.Skipped().Elements == 0 {
		if !r.limit1 && !r.counts {
			r.fail(input, "at least one item is required")
		}
		return input, []turn.Message{say(turn.User, "")}
	}
	return input, nil
}

// element appends one input item. Items that are not known stay with the
// message before them, so that they make no turn of their own; one that comes
// first is the user's.
func (r *responsesReader) element(ms []turn.Message, v tape.Value) []turn.Message {
	switch kind := r.text(v, "type"); kind {
	case "", "message":
		return r.message(ms, v)
	case "reasoning":
		return appendMessage(ms, turn.Assistant, r.one(r.thought(v)))
	case "function_call", "custom_tool_call":
		return appendMessage(ms, turn.Assistant, r.one(r.call(v, kind)))
	case "function_call_output", "custom_tool_call_output":
		return appendMessage(ms, turn.ToolRole, r.output(v))
	case "item_reference":
		r.fail(v, "item_reference names no item of a response that is kept here: send the item itself")
	default:
		other := r.one(turn.Block{Kind: turn.Other, Raw: v.Bytes()})
		if n := len(ms); n > 0 {
			ms[n-1].Blocks = append(ms[n-1].Blocks, other...)
			return ms
		}
		return append(ms, turn.Message{Role: turn.User, Blocks: other})
	}
	return ms
}

func (r *responsesReader) message(ms []turn.Message, v tape.Value) []turn.Message {
	role := turn.User
	switch s := r.needed(v, "role"); s {
	case "user":
	case "assistant":
		role = turn.Assistant
	case "system", "developer":
		role = turn.System
	default:
		r.fail(v.Key("role"), "must be 'user', 'assistant', 'system' or 'developer', not '%s'", cut(s))
		return ms
	}
	content := v.Key("content")
	if content.Kind() == tape.None {
		r.lacks(v, "content")
		return ms
	}
	return appendMessage(ms, role, r.content(nil, content))
}

// content appends the blocks of a content: a string, parts, or null; to nil,
// with as much room as they need.
func (r *responsesReader) content(blocks []turn.Block, v tape.Value) []turn.Block {
	switch v.Kind() {
	case tape.Null:
		return blocks
	case tape.String:
		if blocks == nil {
			blocks = r.allot(1)
		}
		return append(blocks, turn.Block{Kind: turn.Text, Text: v.Text()})
	case tape.Array:
	default:
		r.fail(v, "must be a string or an array, not %s", kindName(v.Kind()))
		return blocks
	}
	if blocks == nil {
		blocks = r.allot(v.Len())
	}
	return r.blocks(blocks, v, r.part)
}

func (r *responsesReader) part(blocks []turn.Block, p tape.Value) []turn.Block {
	switch r.needed(p, "type") {
	case "input_text", "output_text", "text", "summary_text", "reasoning_text":
		return append(blocks, r.plain(p, "text"))
	case "refusal":
		return append(blocks, r.plain(p, "refusal"))
	case "input_image":
		return append(blocks, r.kept(turn.Image, p))
	case "input_file":
		return append(blocks, r.kept(turn.Document, p))
	}
	return append(blocks, r.kept(turn.Other, p))
}
