package dialect

import (
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func TestChatContent(t *testing.T) {
	runDecodings(t, turn.Chat, ``, []decoding{
		{"roles", `"messages":[{"role":"system","content":"s"},{"role":"developer","content":[{"type":"text","text":"d"}]},{"role":"user","name":"bob","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}}]}]`, `
			system "s"
			system "d"
			user "a" image({"type":"image_url","image_url":{"url":"u"}})`},
		{"a loop", `"messages":[{"role":"user","content":"go"},
			{"role":"assistant","content":"one","reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"p\": 1}"}},{"id":"c2","type":"function","function":{"name":"ls","arguments":""}}]},
			{"role":"tool","tool_call_id":"c1","content":"r1"},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"r2"}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c3","function":{"name":"ls","arguments":"{oops"}}]},
			{"role":"assistant","content":""}]`, `
			user "go"
			assistant think("hm" "") "one" call(c1 ls {"p": 1}) call(c2 ls {})
			tool result(c1 "r1") result(c2 "r2")
			assistant call(c3 ls "{oops")
			assistant`},
		{"leases of parts and messages", `"messages":[{"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}]},{"role":"user","content":"hi","cache_control":{"type":"ephemeral"}}]`, `
			system "s"@1h0m0s
			user "hi"@5m0s`},
	})
}

func TestChatFields(t *testing.T) {
	got := decoded(t, turn.Chat, `{"model":"m","max_tokens":5,"max_completion_tokens":7,"stream":true,"stream_options":{"include_usage":true},
		"messages":[{"role":"user","content":"hi"}],"n":1,"store":false,"stop":"x","seed":3,"presence_penalty":1,
		"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}},{"type":"web_search"},{"type":"function","function":{"name":"bare"}}],
		"tool_choice":{"type":"function","function":{"name":"ls"}},"reasoning_effort":"high","parallel_tool_calls":false}`)
	if got.MaxTokens != 7 || !got.IncludeUsage || !got.Stream || !got.OneCall || got.Stop[0] != "x" || *got.Sampling.Seed != 3 {
		t.Errorf("got %+v", got)
	}
	if len(got.Tools) != 2 || got.Tools[1].Schema != nil || got.ToolChoice.Name != "ls" {
		t.Errorf("tools %+v, choice %+v", got.Tools, got.ToolChoice)
	}
	if want := (turn.Thinking{Mode: "on", Effort: "high"}); got.Thinking != want {
		t.Errorf("thinking: %+v", got.Thinking)
	}
}

func TestChatThinking(t *testing.T) {
	for body, want := range map[string]turn.Thinking{
		``:                           {},
		`,"reasoning_effort":null`:   {},
		`,"reasoning_effort":"none"`: {Mode: "off"},
		`,"chat_template_kwargs":{"enable_thinking":false},"reasoning_effort":"low"`: {Mode: "off", Effort: "low"},
		`,"chat_template_kwargs":{"enable_thinking":true}`:                           {Mode: "on"},
		`,"chat_template_kwargs":{"other":1}`:                                        {},
	} {
		got := decoded(t, turn.Chat, `{"model":"m","messages":[{"role":"user","content":"hi"}]`+body+`}`)
		if got.Thinking != want {
			t.Errorf("%s: got %+v, want %+v", body, got.Thinking, want)
		}
	}
}

func TestPriorityHeaders(t *testing.T) {
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}],"nvext":{"agent_hints":{"priority":1,"strict_priority":1},"cache_control":{"type":"ephemeral","ttl":"1h"},"cache_salt":"a"},"cache_salt":"b","latency_class":"batch"}`)
	for header, want := range map[string]turn.Hints{
		"":    {Priority: 1, Strict: 1},
		"7":   {Priority: 7, Strict: 7},
		"-7":  {Priority: -7, Strict: 1},
		"abc": {Priority: 1, Strict: 1},
	} {
		lines := ""
		if header != "" {
			lines = "X-Dynamo-Request-Priority: " + header + "\nX-Dynamo-Request-Strict-Priority: " + header
		}
		got, err := chat{}.Decode(body, withHeaders(lines), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Hints.Priority != want.Priority || got.Hints.Strict != want.Strict {
			t.Errorf("header %q: got %+v, want %+v", header, got.Hints, want)
		}
		if unread := len(got.Hints.Unknown); unread != map[string]int{"-7": 1, "abc": 2}[header] {
			t.Errorf("header %q: not known %q", header, got.Hints.Unknown)
		}
		if !got.Hints.Batch || got.Hints.Lease.Hours() != 1 || got.Salt != "a" {
			t.Errorf("got %+v, salt %q", got.Hints, got.Salt)
		}
	}
}
