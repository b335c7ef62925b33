package dialect

import (
	"slices"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// chat is the codec of POST /v1/chat/completions.
type chat struct{}

func (chat) Dialect() turn.Dialect { return turn.Chat }

// Decode reads a body of POST /v1/chat/completions.
func (chat) Decode(body []byte, header func(string) string, rc *Recall) (*turn.Turn, error) {
	return decode(turn.Chat, func(r *reader) form {
		return &chatReader{reader: r.as(turn.Chat)}
	}, body, header, rc)
}

// chatReader reads a chat body.
type chatReader struct{ *reader }

func (r *chatReader) base() *reader { return r.reader }

// choicesMost is how many answers one request may want.
const choicesMost = 128

func (r *chatReader) fields(t *turn.Turn, root tape.Value) {
	t.IncludeUsage = r.flag(r.field(root, "stream_options", tape.Object), "include_usage")
	t.MaxTokens = r.limit(root, "max_tokens")
	if n := r.limit(root, "max_completion_tokens"); n > 0 {
		t.MaxTokens = n
	}
	if n := r.whole(root, "n", 1, choicesMost+1); n != nil {
		if t.N = int(*n); t.N > choicesMost {
			r.fail(root.Key("n"), "must be at most %d", choicesMost)
		}
	}
	t.OneCall = root.Key("parallel_tool_calls").Kind() == tape.False
	r.flag(root, "parallel_tool_calls")
	r.thinking(t, root)
	t.Format = r.nestedFormat(r.field(root, "response_format", tape.Object))
	t.Sampling.Logprobs = r.flag(root, "logprobs")
	if t.Sampling.TopLogprobs = r.alternatives(root); t.Sampling.TopLogprobs > 0 && !t.Sampling.Logprobs {
		r.fail(root.Key("top_logprobs"), "needs logprobs to be true")
	}
	t.Stop = r.stops(root, "stop")
	r.refused(root)
}

// refused refuses what would be missed in an answer without it.
func (r *chatReader) refused(root tape.Value) {
	if v := r.field(root, "functions", tape.Array); !v.Empty() {
		r.fail(v, "is not supported: send them as tools")
	}
	for _, v := range r.field(root, "modalities", tape.Array).Elements() {
		if r.word(v) == "audio" {
			r.fail(root.Key("modalities"), "holds audio, and answers are text here")
		}
	}
}

// thinking reads OpenAI's effort, and the switch that is usual with open
// models, which counts more.
func (r *chatReader) thinking(t *turn.Turn, root tape.Value) {
	effort(t, r.text(root, "reasoning_effort"))
	kwargs := r.field(root, "chat_template_kwargs", tape.Object)
	for _, key := range []string{"enable_thinking", "thinking"} {
		if !kwargs.Key(key).Given() {
			continue
		}
		t.Thinking.Mode = "off"
		if r.flag(kwargs, key) {
			t.Thinking.Mode = "on"
		}
	}
}

func (r *chatReader) lead(tape.Value) []turn.Message { return nil }

func (r *chatReader) list(root tape.Value) (tape.Value, []turn.Message) {
	return r.nonEmpty(root, "messages"), nil
}

func (r *chatReader) element(ms []turn.Message, m tape.Value) []turn.Message {
	switch role := r.needed(m, "role"); role {
	case "system", "developer":
		return appendMessage(ms, turn.System, r.content(nil, m, role))
	case "user":
		return appendMessage(ms, turn.User, r.content(nil, m, role))
	case "assistant":
		return append(ms, turn.Message{Role: turn.Assistant, Blocks: r.answer(m)})
	case "tool":
		return appendMessage(ms, turn.ToolRole, r.result(m, r.text(m, "tool_call_id")))
	case "function": // the result of a call in the API's oldest form
		return appendMessage(ms, turn.ToolRole, r.result(m, r.text(m, "name")))
	default:
		r.fail(m.Key("role"),
			"must be 'system', 'developer', 'user', 'assistant' or 'tool', not '%s'", cut(role))
	}
	return ms
}

// content appends the blocks of a message's content; to nil, with as much
// room as they need. A lease on the message counts for its last block.
func (r *chatReader) content(blocks []turn.Block, m tape.Value, role string) []turn.Block {
	v := m.Key("content")
	from := len(blocks)
	switch v.Kind() {
	case tape.String:
		if blocks == nil {
			blocks = r.allot(1)
		}
		blocks = append(blocks, turn.Block{Kind: turn.Text, Text: v.Text()})
	case tape.Array:
		if blocks == nil {
			blocks = r.allot(v.Len())
		}
		blocks = r.blocks(blocks, v, r.part)
	case tape.None:
		if role != "assistant" {
			r.lacks(m, "content")
		}
	case tape.Null: // clients write it for a message that says nothing
	default:
		r.fail(v, "must be a string or an array, not %s", kindName(v.Kind()))
	}
	if n := len(blocks); n > from {
		blocks[n-1].Lease = max(blocks[n-1].Lease, r.lease(m))
	}
	return blocks
}

func (r *chatReader) part(blocks []turn.Block, p tape.Value) []turn.Block {
	switch r.needed(p, "type") {
	case "text":
		return append(blocks, r.plain(p, "text"))
	case "refusal":
		return append(blocks, r.plain(p, "refusal"))
	case "image_url":
		return append(blocks, r.kept(turn.Image, p))
	case "file":
		return append(blocks, r.kept(turn.Document, p))
	}
	return append(blocks, r.kept(turn.Other, p))
}

// answer returns what an assistant said: thinking, text, calls. The API does
// not keep their order, so this is the one that models write.
func (r *chatReader) answer(m tape.Value) []turn.Block {
	thought := m.Key("reasoning_content").Text()
	if thought == "" {
		thought = m.Key("reasoning").Text()
	}
	calls := r.field(m, "tool_calls", tape.Array)
	n := m.Key("content").Len() + calls.Len()
	if m.Key("content").Kind() == tape.String {
		n++
	}
	if thought != "" {
		n++
	}
	blocks := r.allot(n)
	if thought != "" {
		blocks = append(blocks, turn.Block{Kind: turn.ThinkingBlock, Text: thought})
	}
	from := len(blocks)
	blocks = r.content(blocks, m, "assistant")
	blocks = append(blocks[:from], slices.DeleteFunc(blocks[from:], saysNothing)...)
	for _, c := range calls.Elements() {
		if c.Kind() != tape.Object {
			r.fail(c, "must be an object, not %s", kindName(c.Kind()))
		}
		f := r.field(c, "function", tape.Object)
		if r.failed() {
			return nil
		}
		if f.Kind() == tape.None {
			blocks = append(blocks, turn.Block{Kind: turn.Other, Raw: c.Bytes()})
			continue
		}
		blocks = append(blocks, r.call(r.text(c, "id"), f))
	}
	if f := r.field(m, "function_call", tape.Object); f.Kind() != tape.None {
		blocks = append(blocks, r.call(f.Key("name").Text(), f))
	}
	return blocks
}

func saysNothing(b turn.Block) bool { return b.Kind == turn.Text && b.Text == "" }

func (r *chatReader) call(id string, f tape.Value) turn.Block {
	return turn.Block{Kind: turn.ToolUse, ID: id, Name: r.needed(f, "name"), Args: Args(r.text(f, "arguments"))}
}

// result returns the result of the call of an id, and after it what it holds
// beside text.
func (r *chatReader) result(m tape.Value, id string) []turn.Block {
	r.inner = r.content(r.inner[:0], m, "tool")
	return appendResult(r.allot(1), turn.Block{Kind: turn.ToolResult, ID: id}, r.inner)
}
