package dialect

import (
	"strings"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// say returns a message of one text.
func say(role turn.Role, text string) turn.Message {
	return turn.Message{Role: role, Blocks: []turn.Block{{Kind: turn.Text, Text: text}}}
}

// thought returns a replayed reasoning item. The text is in its content, or
// in its summary, or in encrypted content that an encoder of ours made.
func (r *responsesReader) thought(v tape.Value) turn.Block {
	b := turn.Block{Kind: turn.ThinkingBlock, Signature: r.text(v, "encrypted_content")}
	for _, key := range []string{"content", "summary"} {
		if b.Text != "" {
			break
		}
		var text strings.Builder
		for _, p := range r.field(v, key, tape.Array).Elements() {
			text.WriteString(r.text(p, "text"))
		}
		b.Text = text.String()
	}
	if b.Text == "" {
		b.Text = signed(b.Signature)
	}
	return b
}

// call returns a replayed call, under its flat name.
func (r *responsesReader) call(v tape.Value, kind string) turn.Block {
	b := turn.Block{Kind: turn.ToolUse, ID: r.needed(v, "call_id")}
	b.Name = flatName(r.known, r.text(v, "namespace"), r.needed(v, "name"))
	if kind == "custom_tool_call" {
		b.Args = inputArgs(r.text(v, "input"))
		return b
	}
	b.Args = Args(r.text(v, "arguments"))
	return b
}

// output returns the result of a call, and after it what it holds beside
// text.
func (r *responsesReader) output(v tape.Value) []turn.Block {
	res := turn.Block{Kind: turn.ToolResult, ID: r.needed(v, "call_id"), Lease: r.lease(v)}
	out := v.Key("output")
	if !out.Given() {
		r.lacks(v, "output")
		return nil
	}
	r.inner = r.content(r.inner[:0], out)
	return appendResult(r.allot(1), res, r.inner)
}

// tool appends a function, a free-text tool, or those of a namespace. Hosted
// tools are dropped: the model answers without them.
func (r *responsesReader) tool(set *toolSet, v tape.Value) {
	if r.needed(v, "type") != "namespace" {
		r.addTool(set, v, "")
		return
	}
	space := r.needed(v, "name")
	if len(space) > nameMost {
		r.fail(v.Key("name"), "must be at most %d bytes long", nameMost)
	}
	for _, inner := range r.field(v, "tools", tape.Array).Elements() {
		if r.failed() {
			return
		}
		r.addTool(set, inner, space)
	}
}

func (r *responsesReader) addTool(set *toolSet, v tape.Value, space string) {
	var t turn.Tool
	switch r.text(v, "type") {
	case "function":
		t = r.function(v, "parameters")
	case "custom":
		t = r.freeTool(v)
	default:
		return
	}
	t.Lease = r.lease(v)
	if t.Namespace = space; space != "" {
		t.Name = space + "__" + t.Bare
	}
	set.add(r.reader, v, t)
}

// freeTool returns a tool that takes free text. A grammar can not be
// enforced, so the model is told it.
func (r *responsesReader) freeTool(v tape.Value) turn.Tool {
	t := r.function(v, "")
	t.Custom = true
	t.Schema = []byte(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)
	format := r.field(v, "format", tape.Object)
	if r.text(format, "type") == "grammar" {
		t.Description += "\n\nThe input is free text of this " + r.text(format, "syntax") +
			" grammar:\n" + r.text(format, "definition")
	}
	return t
}

// rest reads tool_choice. A choice among hosted tools, or of a set of
// allowed ones, leaves it to the model. Input of which nothing is known is no
// input.
func (r *responsesReader) rest(t *turn.Turn, root tape.Value) {
	if !meansSomething(t.Messages) {
		r.fail(root.Key("input"), "holds no item that is known here")
	}
	v := root.Key("tool_choice")
	if v.Kind() == tape.String {
		r.mode(t, v)
		return
	}
	v = r.field(root, "tool_choice", tape.Object)
	switch r.text(v, "type") {
	case "function", "custom":
		r.name(t, v.Key("name"), flatName(t.Tools, r.text(v, "namespace"), r.needed(v, "name")))
	case "allowed_tools":
		if r.text(v, "mode") == "required" {
			r.require(t, v)
		}
	}
}

// mode reads a choice in OpenAI's short form.
func (r *reader) mode(t *turn.Turn, v tape.Value) {
	switch s := v.Text(); s {
	case "auto", "none":
		t.ToolChoice.Mode = s
	case "required":
		r.require(t, v)
	default:
		r.fail(v, "must be 'auto', 'none' or 'required', not '%s'", cut(s))
	}
}

// echoed are the settings that an answer repeats, in their order, with what
// stands for one that was not given. The first one is read again, see
// newObject.
var echoed = [...]struct{ key, unsaid string }{
	{"reasoning", `{"effort":null,"summary":null}`},
	{"instructions", "null"},
	{"max_output_tokens", "null"},
	{"metadata", "{}"},
	{"parallel_tool_calls", "true"},
	{"service_tier", `"default"`},
	{"temperature", "1"},
	{"text", `{"format":{"type":"text"}}`},
	{"tool_choice", `"auto"`},
	{"tools", "[]"},
	{"top_p", "1"},
	{"truncation", `"disabled"`},
	{"prompt_cache_key", "null"},
}

// echoNothing is the echo of a request without settings.
var echoNothing = echo(tape.Value{})

// echo returns the settings that the answer repeats as fields of an object.
func echo(root tape.Value) []byte {
	var said [len(echoed)][]byte
	size := 2
	for i, e := range echoed {
		if v := root.Key(e.key); v.Given() {
			said[i] = v.Raw()
		}
		size += len(e.key) + 4 + max(len(said[i]), len(e.unsaid))
	}
	b := append(make([]byte, 0, size), '{')
	for i, e := range echoed {
		b = append(appendString(comma(b, i), e.key), ':')
		if said[i] != nil {
			b = append(b, said[i]...)
		} else {
			b = append(b, e.unsaid...)
		}
	}
	return append(b, '}')
}

// meansSomething reports whether messages hold more than what is not known.
func meansSomething(ms []turn.Message) bool {
	for i := range ms {
		if bs := ms[i].Blocks; len(bs) == 0 || bs[0].Kind != turn.Other {
			return true
		}
	}
	return len(ms) == 0
}
