package check

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/turn"
)

// TestRecorded compares dyn's prompts with those that real engines showed.
func TestRecorded(t *testing.T) {
	m := folder(t, map[string]string{
		"tokenizer.json":        string(fixtures.Read(t, "tokenizers/qwen3", "tokenizer.json.gz")),
		"tokenizer_config.json": string(fixtures.Read(t, "tokenizers/qwen3", "tokenizer_config.json.gz")),
		"chat_template.jinja":   string(fixtures.Read(t, "templates", "dj-Qwen-Qwen3-0.6B.jinja")),
	})
	all := fake.VLLM(t, fixtures.Dir(t, "engines/vllm"))
	for _, name := range []string{"tokenize-chat", "tokenize-chat-nothink"} {
		t.Run("vllm "+name, func(t *testing.T) {
			e := all[name]
			var ids []uint32
			_, body, _ := strings.Cut(string(e.Response), "\r\n\r\n")
			if err := json.Unmarshal([]byte(gjson.Get(body, "tokens").Raw), &ids); err != nil || len(ids) == 0 {
				t.Fatal("the recording holds no ids", err)
			}
			var f Finding
			ask := asked(e.Body)
			ours, err := own(m, ask, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if judge(&f, m, ask, ours, engine.Rendered{IDs: ids}); f.Result != "" {
				t.Errorf("%s\n%s", f.Result, f.Diff)
			}
		})
	}
	m = folder(t, map[string]string{"chat_template.jinja": string(fixtures.Read(t, "templates", "dj-Qwen-Qwen2.5-7B-Instruct.jinja"))})
	for i, e := range fake.Llama(t, fixtures.Dir(t, "engines/llamacpp"), "tools-apply-template") {
		_, body, _ := strings.Cut(string(e.Response), "\r\n\r\n")
		shown := gjson.Get(body, "prompt")
		if shown.Type != gjson.String {
			t.Fatalf("exchange %d shows no prompt", i)
		}
		var f Finding
		ask := asked(e.Body)
		ours, err := own(m, ask, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if judge(&f, m, ask, ours, engine.Rendered{Text: shown.Str}); f.Result != "" {
			t.Errorf("llama.cpp's exchange %d: %s\n%s", i, f.Result, f.Diff)
		}
	}
}

// asked is the turn of a recorded request.
func asked(body []byte) *turn.Turn {
	q := gjson.ParseBytes(body)
	t := &turn.Turn{}
	for _, m := range q.Get("messages").Array() {
		said := turn.Message{Role: turn.Role(m.Get("role").Str)}
		switch s := m.Get("content").Str; {
		case said.Role == turn.ToolRole:
			said.Blocks = append(said.Blocks, result(m.Get("tool_call_id").Str, s))
		case s != "":
			said.Blocks = append(said.Blocks, text(s))
		}
		for _, c := range m.Get("tool_calls").Array() {
			said.Blocks = append(said.Blocks, calls(c.Get("id").Str, c.Get("function.name").Str, c.Get("function.arguments").Str))
		}
		t.Messages = append(t.Messages, said)
	}
	for _, f := range q.Get("tools.#.function").Array() {
		t.Tools = append(t.Tools, turn.Tool{
			Name: f.Get("name").Str, Description: f.Get("description").Str, Schema: json.RawMessage(f.Get("parameters").Raw),
		})
	}
	if on := q.Get("chat_template_kwargs.enable_thinking"); on.Type == gjson.False {
		t.Thinking.Mode = "off"
	}
	return t
}
