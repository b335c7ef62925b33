package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// chat is the codec of POST /v1/chat/completions.
type chat struct{}

func (chat) Dialect() turn.Dialect { return turn.Chat }

// Decode reads a body of POST /v1/chat/completions.
func (chat) Decode(body []byte, header func(string) string) (*turn.Turn, error) {
	r := &chatReader{}
	doc, fault := r.parse(body)
	if fault != nil {
		return nil, fault
	}
	defer doc.Free()
	header = orNone(header)
	root := doc.Root()
	t := &turn.Turn{Dialect: turn.Chat, Model: r.needed(root, "model")}
	t.Stream = r.flag(root, "stream")
	t.IncludeUsage = r.flag(r.field(root, "stream_options", tape.Object), "include_usage")
	t.MaxTokens = r.limit(root, "max_tokens")
	if n := r.limit(root, "max_completion_tokens"); n > 0 {
		t.MaxTokens = n
	}
	if n := r.whole(root, "n", 1, 2); n != nil && *n > 1 {
		r.fail(root.Key("n"), "only one answer at a time is supported")
	}
	t.OneCall = root.Key("parallel_tool_calls").Kind() == tape.False
	r.flag(root, "parallel_tool_calls")
	t.Tools = r.tools(root)
	t.Messages = r.conversation(root)
	r.choice(t, root)
	r.thinking(t, root)
	t.Sampling = r.sampling(root)
	t.Stop = r.stops(root, "stop")
	r.hints(t, root, header)
	t.Who = r.who(t, root, header)
	if r.failed() {
		return nil, r.fault
	}
	return t, nil
}

// chatReader reads a chat body.
type chatReader struct{ reader }

// thinking reads OpenAI's effort, and the switch that is usual with open
// models, which counts more.
func (r *chatReader) thinking(t *turn.Turn, root tape.Value) {
	effort(t, r.text(root, "reasoning_effort"))
	kwargs := r.field(root, "chat_template_kwargs", tape.Object)
	if !kwargs.Key("enable_thinking").Given() {
		return
	}
	t.Thinking.Mode = "off"
	if r.flag(kwargs, "enable_thinking") {
		t.Thinking.Mode = "on"
	}
}

func (r *chatReader) conversation(root tape.Value) []turn.Message {
	list := r.field(root, "messages", tape.Array)
	switch {
	case r.failed():
	case list.Kind() == tape.None:
		r.lacks(root, "messages")
	case list.Empty():
		r.fail(list, "at least one message is required")
	}
	var ms []turn.Message
	for _, m := range list.Elements() {
		if m.Kind() != tape.Object {
			r.fail(m, "must be an object, not %s", kindName(m.Kind()))
		}
		if r.failed() {
			return nil
		}
		ms = r.message(ms, m)
	}
	return ms
}

func (r *chatReader) message(ms []turn.Message, m tape.Value) []turn.Message {
	switch role := r.needed(m, "role"); role {
	case "system", "developer":
		return appendMessage(ms, turn.System, r.content(m, role))
	case "user":
		return appendMessage(ms, turn.User, r.content(m, role))
	case "assistant":
		return append(ms, turn.Message{Role: turn.Assistant, Blocks: r.answer(m)})
	case "tool":
		return appendMessage(ms, turn.ToolRole, r.result(m))
	default:
		r.fail(m.Key("role"),
			"must be 'system', 'developer', 'user', 'assistant' or 'tool', not '%s'", cut(role))
	}
	return ms
}

// content returns the blocks of a message's content. A lease on the message
// counts for its last block.
func (r *chatReader) content(m tape.Value, role string) []turn.Block {
	v := m.Key("content")
	var blocks []turn.Block
	switch v.Kind() {
	case tape.String:
		blocks = []turn.Block{{Kind: turn.Text, Text: v.Text()}}
	case tape.Array:
		for _, p := range v.Elements() {
			if p.Kind() != tape.Object {
				r.fail(p, "must be an object, not %s", kindName(p.Kind()))
			}
			if r.failed() {
				return nil
			}
			blocks = append(blocks, r.part(p))
		}
	case tape.None, tape.Null:
		if role != "assistant" {
			r.lacks(m, "content")
		}
	default:
		r.fail(v, "must be a string or an array, not %s", kindName(v.Kind()))
	}
	if n := len(blocks); n > 0 {
		blocks[n-1].Lease = max(blocks[n-1].Lease, r.lease(m))
	}
	return blocks
}

func (r *chatReader) part(p tape.Value) turn.Block {
	b := turn.Block{Lease: r.lease(p)}
	key := "text"
	switch r.needed(p, "type") {
	case "text":
	case "refusal":
		key = "refusal"
	case "image_url":
		b.Kind = turn.Image
	case "file":
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

// answer returns what an assistant said: thinking, text, calls. The API does
// not keep their order, so this is the one that models write.
func (r *chatReader) answer(m tape.Value) []turn.Block {
	var blocks []turn.Block
	for _, key := range []string{"reasoning_content", "reasoning"} {
		if text := m.Key(key).Text(); text != "" && len(blocks) == 0 {
			blocks = append(blocks, turn.Block{Kind: turn.ThinkingBlock, Text: text})
		}
	}
	for _, b := range r.content(m, "assistant") {
		if b.Kind != turn.Text || b.Text != "" {
			blocks = append(blocks, b)
		}
	}
	for _, c := range r.field(m, "tool_calls", tape.Array).Elements() {
		if c.Kind() != tape.Object {
			r.fail(c, "must be an object, not %s", kindName(c.Kind()))
		}
		f := r.field(c, "function", tape.Object)
		if r.failed() {
			return nil
		}
		if f.Kind() == tape.None {
			blocks = append(blocks, turn.Block{Kind: turn.Other, Raw: clone(c)})
			continue
		}
		blocks = append(blocks, turn.Block{
			Kind: turn.ToolUse, ID: r.text(c, "id"), Name: r.needed(f, "name"),
			Args: Args(r.text(f, "arguments")),
		})
	}
	return blocks
}

// result returns the result of a call, and after it what it holds beside
// text.
func (r *chatReader) result(m tape.Value) []turn.Block {
	res := turn.Block{Kind: turn.ToolResult, ID: r.text(m, "tool_call_id")}
	return resultOf(res, r.content(m, "tool"))
}
