package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// messages is the codec of POST /v1/messages.
type messages struct{}

func (messages) Dialect() turn.Dialect { return turn.Messages }

// Decode reads a body of POST /v1/messages.
func (messages) Decode(body []byte, header func(string) string, rc *Recall) (*turn.Turn, error) {
	return decode(turn.Messages, func(r *reader) form {
		return &messagesReader{reader: r.as(turn.Messages), limited: true}
	}, body, header, rc)
}

// DecodeCount reads a body of POST /v1/messages/count_tokens: a request
// without max_tokens.
func DecodeCount(body []byte, header func(string) string) (*turn.Turn, error) {
	return decode(turn.Messages, func(r *reader) form {
		return &messagesReader{reader: r.as(turn.Messages)}
	}, body, header, nil)
}

// CountJSON returns the answer of count_tokens.
func CountJSON(tokens int) []byte {
	return append(appendInt([]byte(`{"input_tokens":`), int64(tokens)), '}')
}

// messagesReader reads a messages body.
type messagesReader struct {
	*reader
	limited bool // max_tokens must be given
}

func (r *messagesReader) base() *reader { return r.reader }

func (r *messagesReader) fields(t *turn.Turn, root tape.Value) {
	if t.MaxTokens = r.limit(root, "max_tokens"); r.limited && t.MaxTokens == 0 {
		r.lacks(root, "max_tokens")
	}
	r.thinking(t, root)
	config := r.field(root, "output_config", tape.Object)
	t.Thinking.Effort = r.text(config, "effort")
	if t.Format = r.flatFormat(r.field(root, "output_format", tape.Object)); config.Key("format").Given() {
		t.Format = r.flatFormat(r.field(config, "format", tape.Object))
	}
	t.Stop = r.stops(root, "stop_sequences")
	t.Hints.Lease = r.lease(root)
}

// lead returns the system prompt.
func (r *messagesReader) lead(root tape.Value) []turn.Message {
	sys := root.Key("system")
	if !sys.Given() {
		return nil
	}
	return []turn.Message{{Role: turn.System, Blocks: r.content(nil, sys, turn.System)}}
}

func (r *messagesReader) list(root tape.Value) (tape.Value, []turn.Message) {
	return r.nonEmpty(root, "messages"), nil
}

// element appends one of the client's messages. A user message with results
// of calls becomes several, in order.
func (r *messagesReader) element(ms []turn.Message, m tape.Value) []turn.Message {
	role := r.role(m)
	content := m.Key("content")
	if !r.failed() && !content.Given() {
		r.lacks(m, "content")
	}
	if r.failed() {
		return ms
	}
	blocks := r.content(nil, content, role)
	if role == turn.User {
		return appendResults(ms, blocks)
	}
	return appendMessage(ms, role, blocks)
}

func (r *messagesReader) role(m tape.Value) turn.Role {
	switch s := r.needed(m, "role"); s {
	case "user":
		return turn.User
	case "assistant":
		return turn.Assistant
	case "system":
		return turn.System
	default:
		r.fail(m.Key("role"), "must be 'user', 'assistant' or 'system', not '%s'", cut(s))
	}
	return ""
}

// content appends the blocks of a content, which may be a plain string; to
// nil, with as much room as they need.
func (r *messagesReader) content(blocks []turn.Block, v tape.Value, role turn.Role) []turn.Block {
	switch v.Kind() {
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
	return r.blocks(blocks, v, func(blocks []turn.Block, b tape.Value) []turn.Block { return r.block(blocks, b, role) })
}

// block appends one content block. role is turn.ToolRole inside a result.
func (r *messagesReader) block(blocks []turn.Block, b tape.Value, role turn.Role) []turn.Block {
	switch kind := r.needed(b, "type"); {
	case kind == "text":
		return append(blocks, r.plain(b, "text"))
	case kind == "image":
		return append(blocks, r.kept(turn.Image, b))
	case kind == "document":
		return append(blocks, r.kept(turn.Document, b))
	case kind == "thinking" && role == turn.Assistant:
		return append(blocks, r.thought(b))
	case kind == "tool_use" && role == turn.Assistant:
		return append(blocks, r.use(b))
	case kind == "tool_result" && role == turn.User:
		return r.result(blocks, b)
	case kind == "tool_reference" && role == turn.ToolRole:
		return append(blocks, turn.Block{Refs: []string{r.needed(b, "tool_name")}, Lease: r.lease(b)})
	case kind == "tool_addition" && role == turn.System:
		return append(blocks, r.addition(b))
	}
	return append(blocks, r.kept(turn.Other, b))
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
		args = input.Bytes()
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
	r.inner = r.content(r.inner[:0], content, turn.ToolRole)
	return appendResult(blocks, res, r.inner)
}
