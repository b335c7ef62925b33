package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// responses is the codec of POST /v1/responses.
type responses struct{}

func (responses) Dialect() turn.Dialect { return turn.Responses }

// Decode reads a body of POST /v1/responses.
func (responses) Decode(body []byte, header func(string) string) (*turn.Turn, error) {
	r := &responsesReader{}
	doc, fault := r.parse(body)
	if fault != nil {
		return nil, fault
	}
	defer doc.Free()
	header = orNone(header)
	root := doc.Root()
	t := &turn.Turn{Dialect: turn.Responses, Model: r.needed(root, "model")}
	t.Stream = r.flag(root, "stream")
	t.MaxTokens = r.limit(root, "max_output_tokens")
	t.OneCall = root.Key("parallel_tool_calls").Kind() == tape.False
	r.flag(root, "parallel_tool_calls")
	r.unstored(root)
	t.Tools = r.tools(root)
	r.known = t.Tools
	t.Messages = r.conversation(root, t.MaxTokens)
	r.choice(t, root)
	effort(t, r.text(r.field(root, "reasoning", tape.Object), "effort"))
	t.Sampling = r.sampling(root)
	r.hints(t, root, header)
	t.Who = r.who(t, root, header)
	if r.failed() {
		return nil, r.fault
	}
	t.Echo = echo(root)
	return t, nil
}

// responsesReader reads a responses body. known are the turn's tools, by
// which replayed calls find their flat names.
type responsesReader struct {
	reader
	known []turn.Tool
}

// unstored refuses what needs answers to be kept here. To drop such a field
// in silence would make the model forget what the client believes it knows.
func (r *responsesReader) unstored(root tape.Value) {
	for _, key := range []string{"previous_response_id", "conversation", "prompt"} {
		if v := root.Key(key); v.Given() {
			r.fail(v, "is not supported: nothing is stored here, send the whole input")
		}
	}
	if r.flag(root, "background") {
		r.fail(root.Key("background"), "is not supported: answers come with the request")
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

// conversation returns the instructions and the input. An empty list is a
// problem, unless one token is asked for: that is how Codex probes a server.
func (r *responsesReader) conversation(root tape.Value, limit int) []turn.Message {
	var ms []turn.Message
	if text := r.text(root, "instructions"); text != "" {
		ms = append(ms, say(turn.System, text))
	}
	input := root.Key("input")
	switch input.Kind() {
	case tape.String:
		return append(ms, say(turn.User, input.Text()))
	case tape.None, tape.Null:
		r.lacks(root, "input")
		return nil
	case tape.Array:
	default:
		r.fail(input, "must be a string or an array, not %s", kindName(input.Kind()))
		return nil
	}
	if input.Empty() {
		if limit != 1 {
			r.fail(input, "at least one item is required")
		}
		return append(ms, say(turn.User, ""))
	}
	for _, item := range input.Elements() {
		if item.Kind() != tape.Object {
			r.fail(item, "must be an object, not %s", kindName(item.Kind()))
		}
		if r.failed() {
			return nil
		}
		ms = r.item(ms, item)
	}
	if len(ms) == 0 {
		r.fail(input, "holds no item that is known here")
	}
	return ms
}

// item appends one input item. Items that are not known stay with the
// message before them, so that they make no turn of their own.
func (r *responsesReader) item(ms []turn.Message, v tape.Value) []turn.Message {
	switch kind := r.text(v, "type"); kind {
	case "", "message":
		return r.message(ms, v)
	case "reasoning":
		return appendMessage(ms, turn.Assistant, []turn.Block{r.thought(v)})
	case "function_call", "custom_tool_call":
		return appendMessage(ms, turn.Assistant, []turn.Block{r.call(v, kind)})
	case "function_call_output", "custom_tool_call_output":
		return appendMessage(ms, turn.ToolRole, r.output(v))
	case "item_reference":
		r.fail(v, "item_reference is not supported: nothing is stored here, send the item")
	default:
		if n := len(ms); n > 0 {
			ms[n-1].Blocks = append(ms[n-1].Blocks, turn.Block{Kind: turn.Other, Raw: clone(v)})
		}
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
	return appendMessage(ms, role, r.content(content))
}

// content returns the blocks of a content: a string, parts, or null.
func (r *responsesReader) content(v tape.Value) []turn.Block {
	switch v.Kind() {
	case tape.Null:
		return nil
	case tape.String:
		return []turn.Block{{Kind: turn.Text, Text: v.Text()}}
	case tape.Array:
	default:
		r.fail(v, "must be a string or an array, not %s", kindName(v.Kind()))
		return nil
	}
	var blocks []turn.Block
	for _, p := range v.Elements() {
		if p.Kind() != tape.Object {
			r.fail(p, "must be an object, not %s", kindName(p.Kind()))
		}
		if r.failed() {
			return nil
		}
		blocks = append(blocks, r.part(p))
	}
	return blocks
}

func (r *responsesReader) part(p tape.Value) turn.Block {
	b := turn.Block{Kind: turn.Text, Lease: r.lease(p)}
	key := "text"
	switch r.needed(p, "type") {
	case "input_text", "output_text", "text", "summary_text", "reasoning_text":
	case "refusal":
		key = "refusal"
	case "input_image":
		b.Kind = turn.Image
	case "input_file":
		b.Kind = turn.Document
	default:
		b.Kind = turn.Other
	}
	if b.Kind != turn.Text {
		b.Raw = clone(p)
		return b
	}
	text := r.field(p, key, tape.String)
	if text.Kind() == tape.None {
		r.lacks(p, key)
	}
	b.Text = text.Text()
	return b
}
