package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// said is one step of a conversation, free of its dialect.
type said struct {
	role     string // "user", "assistant", "tool"
	text     string
	thinking string
	call     string // id of the call that it makes, or whose result it is
	args     string
	leased   bool // with cache_control
}

// talk is a conversation as a client holds it.
type talk struct {
	system []string
	tools  []string // name=description
	said   []said
	effort string
}

func (c talk) clone() talk {
	c.system, c.tools, c.said = slices.Clone(c.system), slices.Clone(c.tools), slices.Clone(c.said)
	return c
}

type object = map[string]any

// body writes the conversation as a client of a dialect does.
func (c talk) body(d turn.Dialect) []byte {
	b, err := json.Marshal(map[turn.Dialect]func() object{turn.Chat: c.chat, turn.Responses: c.responses, turn.Messages: c.messages}[d]())
	if err != nil {
		panic(err)
	}
	return b
}

// offered lists the tools, each wrapped as the dialect has it.
func (c talk) offered(wrap func(name, description string, schema object) object) (list []object) {
	for _, t := range c.tools {
		name, description, _ := bytes.Cut([]byte(t), []byte("="))
		list = append(list, wrap(string(name), string(description), object{"type": "object", "properties": object{"at": object{"type": "string"}}}))
	}
	return list
}

func (c talk) chat() object {
	var ms []object
	for _, s := range c.system {
		ms = append(ms, object{"role": "system", "content": s})
	}
	for _, s := range c.said {
		m := object{"role": s.role, "content": s.text}
		if s.role == "assistant" && s.call != "" {
			m["tool_calls"] = []object{{"id": s.call, "type": "function", "function": object{"name": "look", "arguments": s.args}}}
		}
		if s.role == "tool" {
			m["tool_call_id"] = s.call
		}
		if s.thinking != "" {
			m["reasoning_content"] = s.thinking
		}
		ms = append(ms, m)
	}
	out := object{"model": "m", "messages": ms, "tools": c.offered(func(name, description string, schema object) object {
		return object{"type": "function", "function": object{"name": name, "description": description, "parameters": schema}}
	})}
	if c.effort != "" {
		out["reasoning_effort"] = c.effort
	}
	return out
}

func (c talk) responses() object {
	var items []object
	for _, s := range c.system {
		items = append(items, object{"type": "message", "role": "developer", "content": []object{{"type": "input_text", "text": s}}})
	}
	for _, s := range c.said {
		if s.thinking != "" {
			items = append(items, object{"type": "reasoning", "summary": []any{}, "content": []object{{"type": "reasoning_text", "text": s.thinking}}})
		}
		kind := map[string]string{"user": "input_text", "assistant": "output_text"}[s.role]
		if s.role != "tool" && s.text != "" {
			items = append(items, object{"type": "message", "role": s.role, "content": []object{{"type": kind, "text": s.text}}})
		}
		switch {
		case s.role == "tool":
			items = append(items, object{"type": "function_call_output", "call_id": s.call, "output": s.text})
		case s.call != "":
			items = append(items, object{"type": "function_call", "call_id": s.call, "name": "look", "arguments": s.args})
		}
	}
	out := object{"model": "m", "input": items, "tools": c.offered(func(name, description string, schema object) object {
		return object{"type": "function", "name": name, "description": description, "parameters": schema}
	})}
	if c.effort != "" {
		out["reasoning"] = object{"effort": c.effort}
	}
	return out
}

func (c talk) messages() object {
	var system, ms []object
	for _, s := range c.system {
		system = append(system, object{"type": "text", "text": s})
	}
	for _, s := range c.said {
		var blocks []object
		if s.thinking != "" {
			blocks = append(blocks, object{"type": "thinking", "thinking": s.thinking, "signature": ""})
		}
		if s.role != "tool" && s.text != "" {
			blocks = append(blocks, object{"type": "text", "text": s.text})
		}
		switch {
		case s.role == "tool":
			blocks = append(blocks, object{"type": "tool_result", "tool_use_id": s.call, "content": s.text})
		case s.call != "":
			blocks = append(blocks, object{"type": "tool_use", "id": s.call, "name": "look", "input": json.RawMessage(s.args)})
		}
		if s.leased {
			blocks[len(blocks)-1]["cache_control"] = object{"type": "ephemeral"}
		}
		ms = append(ms, object{"role": map[string]string{"user": "user", "assistant": "assistant", "tool": "user"}[s.role], "content": blocks})
	}
	out := object{"model": "m", "max_tokens": 100, "system": system, "messages": ms, "tools": c.offered(func(name, description string, schema object) object {
		return object{"name": name, "description": description, "input_schema": schema}
	})}
	if c.effort != "" {
		out["thinking"], out["output_config"] = object{"type": "adaptive"}, object{"effort": c.effort}
	}
	return out
}

// forgetful is a template that prints reasoning only until the user speaks
// again, and the effort before all.
const forgetful = `{%- set ns = namespace(last=0) -%}
{%- for m in messages -%}{%- if m.role == 'user' -%}{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}
{%- if reasoning_effort -%}<|im_start|>system
Effort: {{ reasoning_effort }}<|im_end|>
{% endif -%}
{%- if tools -%}<|im_start|>system
{% for t in tools %}{{ t | tojson }}
{% endfor %}<|im_end|>
{% endif -%}
{%- for m in messages -%}<|im_start|>{{ m.role }}
{% if m.reasoning_content and loop.index0 > ns.last %}<think>
{{ m.reasoning_content }}
</think>

{% endif %}{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}}</tool_call>{% endfor %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}`

// forgetfulModel has that template.
func forgetfulModel(t testing.TB) *prompt.Model {
	t.Helper()
	fsys := fstest.MapFS{"chat_template.jinja": {Data: []byte(forgetful)}}
	for _, name := range []string{"tokenizer.json", "config.json", "generation_config.json"} {
		data, err := model.FS().(interface {
			ReadFile(string) ([]byte, error)
		}).ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fsys[name] = &fstest.MapFile{Data: data}
	}
	m, err := prompt.OpenFS(fsys, prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// front is as much of the server as makes prompts.
type front struct {
	t     testing.TB
	m     *prompt.Model
	raw   *prompt.Raw
	store *Store
	d     turn.Dialect
	now   time.Time
	most  int // tokens of a prompt
}

func newFront(t testing.TB, m *prompt.Model, d turn.Dialect) *front {
	return &front{t, m, prompt.NewRaw("m", 1<<20, nil), New(Limits{}), d, time.Unix(1_000_000, 0), 0}
}

// ask makes the prompt of a conversation of a session, "" for a client that
// names none.
func (f *front) ask(session string, c talk) Built {
	f.t.Helper()
	header := func(name string) string {
		return map[string]string{"x-session-id": session, "user-agent": "opencode/1.18", "User-Agent": "opencode/1.18"}[name]
	}
	tr, err := dialect.For(f.d).Decode(c.body(f.d), header, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	prompt.Steady(tr)
	f.now = f.now.Add(time.Second)
	var rolling []uint64
	if tr.Who.Session == "" {
		rolling = prompt.Rolling(nil, tr)
	}
	a := f.store.Find(tr, rolling, f.now)
	b, err := a.Build(Asked{Model: f.m, Turn: tr, Raw: f.raw, Most: f.most})
	if err != nil {
		f.t.Fatal(err)
	}
	f.store.Said(a, b.Rolling, Exact{}, 0)
	return b
}

// answer lets the model answer the prompt before, in ids of its own.
func (f *front) answer(b Built, s said) {
	m := turn.Message{Role: turn.Assistant}
	text := s.text
	if text != "" {
		m.Blocks = append(m.Blocks, turn.Block{Kind: turn.Text, Text: s.text})
	}
	if s.call != "" {
		m.Blocks = append(m.Blocks, turn.Block{Kind: turn.ToolUse, ID: s.call, Name: "look", Args: json.RawMessage(s.args)})
		text += fmt.Sprintf("\n<tool_call>\n{\"name\": \"look\", \"arguments\": %s}\n</tool_call>", s.args)
	}
	if s.thinking != "" {
		text = "<think>\n" + s.thinking + "\n</think>\n\n" + text
	}
	before := b.Rolling[len(b.Rolling)-1]
	f.raw.Put(before, turn.RawTurn{
		Key: prompt.Next(before, m), Opening: b.Opening, IDs: f.m.Tokenizer().Encode(nil, text), Thinking: s.thinking,
	})
}
