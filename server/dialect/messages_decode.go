package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// messages is the codec of POST /v1/messages.
type messages struct{}

func (messages) Dialect() turn.Dialect { return turn.Messages }

// Decode reads a body of POST /v1/messages.
func (messages) Decode(body []byte, header func(string) string) (*turn.Turn, error) {
	return decodeMessages(body, header, true)
}

// DecodeCount reads a body of POST /v1/messages/count_tokens: a request
// without max_tokens.
func DecodeCount(body []byte, header func(string) string) (*turn.Turn, error) {
	return decodeMessages(body, header, false)
}

// CountJSON returns the answer of count_tokens.
func CountJSON(tokens int) []byte {
	return append(appendInt([]byte(`{"input_tokens":`), int64(tokens)), '}')
}

func decodeMessages(body []byte, header func(string) string, limited bool) (*turn.Turn, error) {
	r := &messagesReader{reader: reader{dots: true}}
	doc, fault := r.parse(body)
	if fault != nil {
		return nil, fault
	}
	defer doc.Free()
	header = orNone(header)
	root := doc.Root()
	t := &turn.Turn{Dialect: turn.Messages, Model: r.needed(root, "model")}
	t.Stream = r.flag(root, "stream")
	if t.MaxTokens = r.limit(root, "max_tokens"); limited && t.MaxTokens == 0 {
		r.lacks(root, "max_tokens")
	}
	t.Tools = r.tools(root)
	t.Messages = r.conversation(root)
	r.choice(t, root)
	r.thinking(t, root)
	t.Sampling = r.sampling(root)
	t.Stop = r.stops(root, "stop_sequences")
	r.hints(t, root, header)
	t.Hints.Lease = max(t.Hints.Lease, r.lease(root))
	t.Who = r.who(t, root, header)
	if r.failed() {
		return nil, r.fault
	}
	return t, nil
}

// messagesReader reads a messages body. deferred holds the definitions of
// tools that are hidden until a tool_reference names them, expanded the bytes
// that references have become so far.
type messagesReader struct {
	reader
	deferred map[string]turn.Tool
	expanded int
}

// conversation returns the system prompt and the messages.
func (r *messagesReader) conversation(root tape.Value) []turn.Message {
	var ms []turn.Message
	if sys := root.Key("system"); sys.Given() {
		ms = append(ms, turn.Message{Role: turn.System, Blocks: r.content(sys, turn.System)})
	}
	list := r.field(root, "messages", tape.Array)
	switch {
	case r.failed():
	case list.Kind() == tape.None:
		r.lacks(root, "messages")
	case list.Empty():
		r.fail(list, "at least one message is required")
	}
	for _, m := range list.Elements() {
		if r.failed() {
			return nil
		}
		ms = r.message(ms, m)
	}
	return ms
}

// message appends one of the client's messages. A user message with results
// of calls becomes several, in order.
func (r *messagesReader) message(ms []turn.Message, m tape.Value) []turn.Message {
	if m.Kind() != tape.Object {
		r.fail(m, "must be an object, not %s", kindName(m.Kind()))
		return ms
	}
	role := r.role(m)
	content := m.Key("content")
	if !r.failed() && !content.Given() {
		r.lacks(m, "content")
	}
	if r.failed() {
		return ms
	}
	blocks := r.content(content, role)
	if role == turn.User {
		return appendResults(ms, blocks)
	}
	return appendMessage(ms, role, blocks)
}

func (r *messagesReader) role(m tape.Value) turn.Role {
	switch s := r.needed(m, "role"); s {
	case "user", "assistant", "system":
		return turn.Role(s)
	default:
		r.fail(m.Key("role"), "must be 'user', 'assistant' or 'system', not '%s'", cut(s))
	}
	return ""
}

// content returns the blocks of a content, which may be a plain string.
func (r *messagesReader) content(v tape.Value, role turn.Role) []turn.Block {
	switch v.Kind() {
	case tape.String:
		return []turn.Block{{Kind: turn.Text, Text: v.Text()}}
	case tape.Array:
	default:
		r.fail(v, "must be a string or an array, not %s", kindName(v.Kind()))
		return nil
	}
	var blocks []turn.Block
	for _, b := range v.Elements() {
		if b.Kind() != tape.Object {
			r.fail(b, "must be an object, not %s", kindName(b.Kind()))
		}
		if r.failed() {
			return nil
		}
		blocks = r.block(blocks, b, role)
	}
	return blocks
}

// block appends one content block. role is turn.ToolRole inside a result.
func (r *messagesReader) block(blocks []turn.Block, b tape.Value, role turn.Role) []turn.Block {
	switch kind := r.needed(b, "type"); {
	case kind == "text":
		text := r.field(b, "text", tape.String)
		if text.Kind() == tape.None {
			r.lacks(b, "text")
		}
		return append(blocks, turn.Block{Kind: turn.Text, Text: text.Text(), Lease: r.lease(b)})
	case kind == "image":
		return append(blocks, turn.Block{Kind: turn.Image, Raw: clone(b), Lease: r.lease(b)})
	case kind == "document":
		return append(blocks, turn.Block{Kind: turn.Document, Raw: clone(b), Lease: r.lease(b)})
	case kind == "thinking" && role == turn.Assistant:
		return append(blocks, r.thought(b))
	case kind == "tool_use" && role == turn.Assistant:
		return append(blocks, r.use(b))
	case kind == "tool_result" && role == turn.User:
		return r.result(blocks, b)
	case kind == "tool_reference" && role == turn.ToolRole:
		return append(blocks, turn.Block{Kind: turn.Text, Text: r.reference(b)})
	}
	return append(blocks, turn.Block{Kind: turn.Other, Raw: clone(b), Lease: r.lease(b)})
}

func (r *messagesReader) thought(b tape.Value) turn.Block {
	t := turn.Block{Kind: turn.ThinkingBlock, Text: r.text(b, "thinking"), Signature: r.text(b, "signature")}
	if t.Text == "" {
		t.Text = signed(t.Signature)
	}
	return t
}

func (r *messagesReader) use(b tape.Value) turn.Block {
	args := []byte("{}")
	if input := b.Key("input"); input.Given() {
		args = clone(input)
		if raw := input.Key("__unparsedToolInput").Key("raw"); raw.Kind() == tape.String {
			args = Args(raw.Text()) // a cut call, as Claude Code keeps it
		}
	}
	return turn.Block{
		Kind: turn.ToolUse, ID: r.needed(b, "id"), Name: r.needed(b, "name"),
		Args: args, Lease: r.lease(b),
	}
}

// result appends the result of a call, and after it what it holds beside
// text.
func (r *messagesReader) result(blocks []turn.Block, b tape.Value) []turn.Block {
	res := turn.Block{
		Kind: turn.ToolResult, ID: r.needed(b, "tool_use_id"),
		IsError: r.flag(b, "is_error"), Lease: r.lease(b),
	}
	content := b.Key("content")
	if !content.Given() {
		return append(blocks, res)
	}
	return append(blocks, resultOf(res, r.content(content, turn.ToolRole))...)
}
