package dialect

import (
	"reflect"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

func TestMessagesContent(t *testing.T) {
	runDecodings(t, turn.Messages, `"max_tokens":9,`, []decoding{
		{"string forms", `"system":"be brief","messages":[{"role":"user","content":"hi"}]`, `
			system "be brief"
			user "hi"`},
		{"leases", `"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}],
			"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"90s"}}]}]`, `
			system "a"@5m0s "b"@1h0m0s
			user "hi"@1m30s`},
		{"system in the middle keeps its place", `"messages":[{"role":"user","content":"a"},{"role":"system","content":[{"type":"text","text":"s"}]},{"role":"assistant","content":"b"}]`, `
			user "a"
			system "s"
			assistant "b"`},
		{"a loop", `"messages":[{"role":"user","content":"go"},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"one"},{"type":"tool_use","id":"c1","name":"Read","input":{"b":1, "a":2}},{"type":"tool_use","id":"c2","name":"Ls","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r1"},{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":[{"type":"text","text":"x"},{"type":"text","text":"y","cache_control":{"type":"ephemeral"}}]},{"type":"text","text":"go on"}]}]`, `
			user "go"
			assistant think("hm" "s") "one" call(c1 Read {"b":1, "a":2}) call(c2 Ls {})
			tool result(c1 "r1") result(c2 "x\ny" error)@5m0s
			user "go on"`},
		{"text before results", `"messages":[{"role":"user","content":[{"type":"text","text":"t"},{"type":"tool_result","tool_use_id":"c"}]}]`, `
			user "t"
			tool result(c "")`},
		{"an image in a result", `"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"see"},{"type":"image","source":{}}]},{"type":"image","source":{"a":1}}]}]`, `
			tool result(c "see") image({"type":"image","source":{}}) image({"type":"image","source":{"a":1}})`},
		{"assistants are joined", `"messages":[{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":[]}]`, `
			assistant "a" "b"
			user`},
		{"unknown content is kept", `"messages":[{"role":"user","content":[{"type":"novel","x":[1]},{"type":"document","source":{}}]},{"role":"assistant","content":[{"type":"redacted_thinking","data":"d"},{"type":"server_tool_use","id":"x"}]}]`, `
			user other({"type":"novel","x":[1]}) document({"type":"document","source":{}})
			assistant other({"type":"redacted_thinking","data":"d"}) other({"type":"server_tool_use","id":"x"})`},
		{"half an emoji", `"messages":[{"role":"user","content":"a\ud800b"}]`, `
			user "a�b"`},
		{"an omitted thought comes back", `"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"dyn1.aGlkZGVu"}]}]`, `
			assistant think("hidden" "dyn1.aGlkZGVu")`},
		{"a foreign signature", `"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"dyn1.***"}]}]`, `
			assistant think("" "dyn1.***")`},
		{"deferred tools", `"tools":[{"name":"Now"},{"name":"Later","description":"d","input_schema":{"type":"object"},"defer_loading":true},{"name":"DeferredToolPlaceholder","defer_loading":true}],
			"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"tool_reference","tool_name":"Later"},{"type":"tool_reference","tool_name":"Gone"}]}]}]`, `
			tool result(c "" refs ["Later" "Gone"])`},
	})
}

func TestMessagesFields(t *testing.T) {
	got := decoded(t, turn.Messages, `{"model":"m","max_tokens":7,"stream":true,"unknown":{"x":1},
		"messages":[{"role":"user","content":"hi"}],
		"tools":[{"name":"A","description":"d","input_schema":{"b":1, "a":2},"cache_control":{"type":"ephemeral","ttl":"1h"}},
			{"type":"web_search_20250305","name":"web_search"},{"type":"custom","name":"B","defer_loading":true},{"type":"mcp_toolset"},{"name":"A"}],
		"tool_choice":{"type":"tool","name":"A","disable_parallel_tool_use":true},
		"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"high"},
		"temperature":0.5,"top_p":1,"top_k":20,"stop_sequences":["x","","y"],
		"cache_control":{"type":"ephemeral"},"cache_salt":"s",
		"nvext":{"agent_hints":{"priority":-3,"strict_priority":2,"latency_class":"batch","osl":5}}}`)
	if len(got.Tools) != 2 || got.Tools[0].Name != "A" || got.Tools[0].Deferred || !got.Tools[1].Deferred || string(got.Tools[0].Schema) != `{"b":1, "a":2}` || got.Tools[0].Lease != time.Hour {
		t.Errorf("tools: %+v", got.Tools)
	}
	if want := (turn.ToolChoice{Mode: "named", Name: "A"}); got.ToolChoice != want || !got.OneCall {
		t.Errorf("choice: %+v, one call %v", got.ToolChoice, got.OneCall)
	}
	if want := (turn.Thinking{Mode: "on", Effort: "high", Omitted: true}); got.Thinking != want {
		t.Errorf("thinking: got %+v, want %+v", got.Thinking, want)
	}
	if want := (turn.Hints{Priority: -3, Strict: 2, Batch: true, OSL: 5, Lease: 5 * time.Minute}); !reflect.DeepEqual(got.Hints, want) {
		t.Errorf("hints: got %+v, want %+v", got.Hints, want)
	}
	s := got.Sampling
	if *s.Temperature != 0.5 || *s.TopP != 1 || *s.TopK != 20 || s.Seed != nil || s.Presence != nil {
		t.Errorf("sampling: %+v", s)
	}
	if len(got.Stop) != 2 || got.Stop[1] != "y" || got.Salt != "s" || !got.Stream || got.MaxTokens != 7 {
		t.Errorf("got %+v", got)
	}
}

func TestMessagesThinking(t *testing.T) {
	for body, want := range map[string]turn.Thinking{
		``:                                {Mode: "off"},
		`,"thinking":{"type":"disabled"}`: {Mode: "off"},
		`,"thinking":{"type":"enabled","budget_tokens":32000,"display":"updates"}`:  {Mode: "on"},
		`,"thinking":{"type":"adaptive"},"output_config":{"effort":"low","x":null}`: {Mode: "on", Effort: "low"},
		`,"thinking":null,"output_config":null`:                                     {Mode: "off"},
	} {
		got := decoded(t, turn.Messages, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]`+body+`}`)
		if got.Thinking != want {
			t.Errorf("%s: got %+v, want %+v", body, got.Thinking, want)
		}
	}
}

func TestCount(t *testing.T) {
	got, err := DecodeCount([]byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`), nil)
	if err != nil || sketch(got.Messages) != `user "hi"` {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := DecodeCount([]byte(`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":-1}`), nil); err == nil {
		t.Error("a negative max_tokens passed")
	}
	if got := string(CountJSON(12)); got != `{"input_tokens":12}` {
		t.Errorf("got %s", got)
	}
}

// TestBodyIsNotKept overwrites the body after decoding, as a server's buffer
// is used again.
func TestBodyIsNotKept(t *testing.T) {
	body := []byte(`{"model":"mm","max_tokens":9,"tools":[{"name":"A","input_schema":{"a":1}}],"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"A","input":{"k":"v"}}]}]}`)
	got, err := messages{}.Decode(body, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range body {
		body[i] = 'x'
	}
	if got.Model != "mm" || string(got.Tools[0].Schema) != `{"a":1}` {
		t.Errorf("model %s, schema %s", got.Model, got.Tools[0].Schema)
	}
	if got, want := sketch(got.Messages), "user \"hello\"\nassistant call(c A {\"k\":\"v\"})"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
