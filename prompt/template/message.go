package template

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// writer makes the mappings of a turn's messages.
type writer struct {
	f     *form
	ms    []turn.Message
	calls calls // of ms
}

// message is an item as a template reads it. It holds copies only.
func (w *writer) message(it *item, pieces []piece) *jinja.Map {
	m := jinja.NewMap(w.entries(it, pieces))
	m.Set("role", jinja.String(string(it.role)))
	switch it.role {
	case turn.Assistant:
		w.answer(m, it, pieces)
	case turn.ToolRole:
		first := pieces[0]
		if b := &w.ms[first.message].Blocks[first.from]; b.Kind == turn.ToolResult {
			m.Set("tool_call_id", jinja.String(w.callID(b.ID)))
			if name := w.calls.name(first.message, b.ID); name != "" {
				m.Set("name", jinja.String(strings.Clone(name)))
			}
		}
		m.Set("content", w.content(it.role, w.text(pieces)))
	default:
		m.Set("content", w.content(it.role, w.text(pieces)))
	}
	return m
}

// entries is at least how many entries the mapping of an item has, mostly just
// that.
func (w *writer) entries(it *item, pieces []piece) int {
	n := 2
	switch it.role {
	case turn.ToolRole:
		n = 4
	case turn.Assistant:
		thinks, calls := false, false
		for _, x := range pieces {
			for i := range w.ms[x.message].Blocks[x.from:x.to] {
				switch w.ms[x.message].Blocks[x.from+i].Kind {
				case turn.ThinkingBlock:
					thinks = true
				case turn.ToolUse:
					calls = true
				}
			}
		}
		if thinks {
			n++
		}
		if calls {
			n++
		}
	}
	return n
}

// text is the text of pieces, with an empty line between them.
func (w *writer) text(pieces []piece) string {
	size := 0
	for _, x := range pieces {
		size += 2 + textSize(w.ms[x.message].Blocks[x.from:x.to])
	}
	dst := make([]byte, 0, size)
	for i, x := range pieces {
		if i > 0 {
			dst = append(dst, "\n\n"...)
		}
		dst = appendText(dst, w.ms[x.message].Blocks[x.from:x.to])
	}
	return unsafe.String(unsafe.SliceData(dst), len(dst)) // nobody writes dst any more
}

// content is text in the form that the template reads from a role.
func (w *writer) content(role turn.Role, text string) jinja.Value {
	if !w.f.parts[role] {
		return jinja.String(text)
	}
	return jinja.List(textValue(text))
}

// textValue is text as a part of content.
func textValue(text string) jinja.Value {
	p := jinja.NewMap(2)
	p.Set("type", jinja.String("text"))
	p.Set("text", jinja.String(text))
	return jinja.Mapping(p)
}

// answer fills in what the assistant said, thought and called.
func (w *writer) answer(m *jinja.Map, it *item, pieces []piece) {
	var text, thought string
	var calls []jinja.Value
	if it.text {
		text, thought = w.text(pieces), w.thought(pieces)
	}
	n := 0
	for _, x := range pieces {
		blocks := w.ms[x.message].Blocks[x.from:x.to]
		for i := range blocks {
			if b := &blocks[i]; b.Kind == turn.ToolUse {
				if n >= it.lo && n < it.hi {
					calls = append(calls, w.call(b))
					if !w.f.calls {
						text = join(text, calledText(b))
					}
				}
				n++
			}
		}
	}
	if w.f.oneText && len(calls) > 0 && thought != "" {
		thought, text = join(thought, text), ""
	}
	content := w.content(turn.Assistant, text)
	switch {
	case thought == "":
	case w.f.reasoning == inlineReasoning:
		content = w.content(turn.Assistant, inline(thought, text))
	case w.f.reasoning == partReasoning:
		content = thinkingParts(thought, text)
	case w.f.reasoning != "":
		m.Set(w.f.reasoning, jinja.String(thought))
	}
	if text == "" && len(calls) > 0 && w.f.nullContent && w.f.calls {
		content = jinja.None()
	}
	m.Set("content", content)
	if len(calls) > 0 && w.f.calls {
		m.Set("tool_calls", jinja.List(calls...))
	}
}

// thought is the reasoning of pieces.
func (w *writer) thought(pieces []piece) string {
	var dst []byte
	for _, x := range pieces {
		dst = thoughts(dst, w.ms[x.message].Blocks[x.from:x.to])
	}
	return string(dst)
}

// thinkingParts is an answer whose reasoning is a part of its content.
func thinkingParts(thought, text string) jinja.Value {
	p := jinja.NewMap(2)
	p.Set("type", jinja.String("thinking"))
	p.Set("thinking", jinja.String(thought))
	if text == "" {
		return jinja.List(jinja.Mapping(p))
	}
	return jinja.List(jinja.Mapping(p), textValue(text))
}

// call is one call of a tool.
func (w *writer) call(b *turn.Block) jinja.Value {
	f := jinja.NewMap(2)
	f.Set("name", jinja.String(strings.Clone(b.Name)))
	f.Set("arguments", w.arguments(b.Args))
	c := jinja.NewMap(3)
	c.Set("id", jinja.String(w.callID(b.ID)))
	c.Set("type", jinja.String("function"))
	c.Set("function", jinja.Mapping(f))
	return jinja.Mapping(c)
}

// arguments are those of a call in the form that the template wants. What is
// no object goes as the text that the model wrote where the template prints
// text, and else under one name, as calls with free text do.
func (w *writer) arguments(raw []byte) jinja.Value {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	v, err := jinja.Decode(raw)
	if ok := err == nil && raw[0] == '{'; ok && !w.f.stringArgs {
		return v
	} else if ok || w.f.textArgs {
		return jinja.String(string(raw))
	}
	m := new(jinja.Map)
	m.Set("input", jinja.String(string(raw)))
	return jinja.Mapping(m)
}

// callID is the id of a call as the template takes it.
func (w *writer) callID(id string) string {
	if w.f.shortIDs {
		return shortID(id)
	}
	return strings.Clone(id)
}

// calledText is a call as text, for a template that knows no calls.
func calledText(b *turn.Block) string {
	args := string(bytes.TrimSpace(b.Args))
	if args == "" {
		args = "{}"
	}
	return b.Name + "(" + args + ")"
}

// join puts an empty line between two texts, if both are some.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
