package session

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/internal/fixtures/talk"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

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
func (f *front) ask(session string, c talk.Talk) Built {
	f.t.Helper()
	header := func(name string) string {
		return map[string]string{"x-session-id": session, "user-agent": "opencode/1.18", "User-Agent": "opencode/1.18"}[name]
	}
	tr, err := dialect.For(f.d).Decode(c.Body(f.d), header, nil)
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
func (f *front) answer(b Built, s talk.Step) {
	m := turn.Message{Role: turn.Assistant}
	text := s.Text
	if text != "" {
		m.Blocks = append(m.Blocks, turn.Block{Kind: turn.Text, Text: s.Text})
	}
	if s.Call != "" {
		m.Blocks = append(m.Blocks, turn.Block{Kind: turn.ToolUse, ID: s.Call, Name: "look", Args: json.RawMessage(s.Args)})
		text += fmt.Sprintf("\n<tool_call>\n{\"name\": \"look\", \"arguments\": %s}\n</tool_call>", s.Args)
	}
	if s.Thinking != "" {
		text = "<think>\n" + s.Thinking + "\n</think>\n\n" + text
	}
	before := b.Rolling[len(b.Rolling)-1]
	f.raw.Put(before, turn.RawTurn{
		Key: prompt.Next(before, m), Opening: b.Opening, IDs: f.m.Tokenizer().Encode(nil, text), Thinking: s.Thinking,
	})
}
