package dialect

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func TestWho(t *testing.T) {
	const (
		msgs  = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]`
		input = `{"model":"m","input":"hi"`
		talk  = `{"model":"m","messages":[{"role":"user","content":"hi"}]`
	)
	system := func(text string) string { return `,"system":[{"type":"text","text":"` + text + `"}]` }
	for _, c := range []struct {
		name    string
		dialect turn.Dialect
		headers map[string]string
		body    string
		want    turn.Who
	}{
		{
			"claude lead", turn.Messages,
			map[string]string{"X-Claude-Code-Session-Id": "S", "User-Agent": "claude-cli/2.1.332 (external, cli)"},
			msgs + `}`,
			turn.Who{Harness: "claude-code", Session: "S", Agent: "main", Kind: "user"},
		},
		{
			"claude subagent", turn.Messages,
			map[string]string{"X-Claude-Code-Session-Id": "S", "x-claude-code-agent-id": "a1"},
			msgs + `}`,
			turn.Who{Harness: "claude-code", Session: "S", Agent: "a1", Parent: "main", Kind: "subagent"},
		},
		{
			"claude subagent of a subagent", turn.Messages,
			map[string]string{"X-Claude-Code-Session-Id": "S", "x-claude-code-agent-id": "a2", "x-claude-code-parent-agent-id": "a1"},
			msgs + `}`,
			turn.Who{Harness: "claude-code", Session: "S", Agent: "a2", Parent: "a1", Kind: "subagent"},
		},
		{
			"claude without headers", turn.Messages, nil,
			msgs + `,"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"S\"}"}` +
				system(`x-anthropic-billing-header: cc_version=2.1.332.9d8; cc_entrypoint=cli; cc_is_subagent=true;`) + `}`,
			turn.Who{Harness: "claude-code", Session: "S", Agent: "sub-9d8", Parent: "main", Kind: "subagent"},
		},
		{
			"claude of old", turn.Messages, nil,
			msgs + `,"metadata":{"user_id":"user_ff_account__session_S"}}`,
			turn.Who{Session: "S", Agent: "main", Kind: "user"},
		},
		{
			"claude title", turn.Messages,
			map[string]string{"X-Claude-Code-Session-Id": "S"},
			msgs + `,"output_config":{"format":{"type":"json_schema","schema":{"properties":{"title":{"type":"string"}}}}}}`,
			turn.Who{Harness: "claude-code", Session: "S", Agent: "title", Parent: "main", Kind: "title"},
		},
		{
			"claude classifier", turn.Messages,
			map[string]string{"X-Claude-Code-Session-Id": "S"},
			msgs + `,"stop_sequences":["</block>"]}`,
			turn.Who{Harness: "claude-code", Session: "S", Agent: "classifier", Parent: "main", Kind: "classifier"},
		},
		{
			"claude search", turn.Messages,
			map[string]string{"X-Claude-Code-Session-Id": "S"},
			msgs + `,"tools":[{"type":"web_search_20250305","name":"web_search"}]}`,
			turn.Who{Harness: "claude-code", Session: "S", Agent: "search", Parent: "main", Kind: "subagent"},
		},
		{
			"claude compaction", turn.Messages,
			map[string]string{"X-Claude-Code-Session-Id": "S"},
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"CRITICAL: Respond with TEXT ONLY. Now"}]}]}`,
			turn.Who{Harness: "claude-code", Session: "S", Agent: "main", Kind: "compaction"},
		},
		{
			"a probe", turn.Messages, nil,
			`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`,
			turn.Who{Kind: "probe"},
		},
		{
			"qwen as claude", turn.Messages,
			map[string]string{"User-Agent": "claude-cli/0.24.4 (external, cli)"},
			msgs + `}`,
			turn.Who{Harness: "qwen-code", Kind: "user"},
		},
		{
			"codex root", turn.Responses,
			map[string]string{"session-id": "R", "thread-id": "R", "originator": "codex_exec", "x-codex-turn-metadata": `{"request_kind":"compaction"}`},
			input + `}`,
			turn.Who{Harness: "codex", Session: "R", Agent: "main", Kind: "compaction"},
		},
		{
			"codex subagent", turn.Responses,
			map[string]string{"session-id": "R", "thread-id": "T", "x-codex-parent-thread-id": "R", "x-codex-window-id": "T:0"},
			input + `}`,
			turn.Who{Harness: "codex", Session: "R", Agent: "T", Parent: "main", Kind: "subagent"},
		},
		{
			"codex without headers", turn.Responses, nil,
			input + `,"client_metadata":{"session_id":"R","thread_id":"T","x-codex-parent-thread-id":"P","x-codex-turn-metadata":"{\"request_kind\":\"turn\"}"}}`,
			turn.Who{Harness: "codex", Session: "R", Agent: "T", Parent: "P", Kind: "subagent"},
		},
		{
			"a cache key", turn.Responses, nil,
			input + `,"prompt_cache_key":"K"}`,
			turn.Who{Session: "K", Agent: "main", Kind: "user"},
		},
		{
			"pi", turn.Responses,
			map[string]string{"session-id": "P", "user-agent": "pi/1.6.0 (linux)"},
			input + `,"prompt_cache_key":"P"}`,
			turn.Who{Harness: "pi", Session: "P", Agent: "main", Kind: "user"},
		},
		{
			"opencode", turn.Chat,
			map[string]string{"x-session-id": "s1", "User-Agent": "opencode/1.18.33 ai-sdk"},
			talk + `}`,
			turn.Who{Harness: "opencode", Session: "s1", Agent: "main", Kind: "user"},
		},
		{
			"opencode subagent", turn.Chat,
			map[string]string{"x-session-id": "s2", "x-parent-session-id": "s1", "User-Agent": "opencode/1.18.33"},
			talk + `}`,
			turn.Who{Harness: "opencode", Session: "s1", Agent: "s2", Parent: "main", Kind: "subagent"},
		},
		{
			"opencode title", turn.Chat,
			map[string]string{"x-session-id": "s1", "User-Agent": "opencode/1.18.33"},
			`{"model":"m","messages":[{"role":"system","content":"You are a title generator. You"},{"role":"user","content":"hi"}]}`,
			turn.Who{Harness: "opencode", Session: "s1", Agent: "title", Parent: "main", Kind: "title"},
		},
		{"nobody", turn.Chat, nil, talk + `}`, turn.Who{Kind: "user"}},
		{
			"hostile", turn.Chat,
			map[string]string{"x-session-id": "\x1b[31ma\x00\xff" + strings.Repeat("b", 500)},
			talk + `}`,
			turn.Who{Session: "[31ma" + strings.Repeat("b", 91) + "~fb59696a123f52ce", Agent: "main", Kind: "user"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lines strings.Builder
			for k, v := range c.headers {
				lines.WriteString(k + ": " + v + "\n")
			}
			got, err := For(c.dialect).Decode([]byte(c.body), withHeaders(lines.String()), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Who != c.want {
				t.Errorf("got  %+v\nwant %+v", got.Who, c.want)
			}
		})
	}
}

// TestRecordedIdentity looks at who sent the recorded requests.
func TestRecordedIdentity(t *testing.T) {
	for _, r := range recordings(t) {
		c := codecOf(&r)
		if c == nil {
			continue
		}
		got, err := c.Decode(r.full, r.header, nil)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(r.file, "-")
		harness := map[string]string{
			"claude": "claude-code", "codex": "codex", "opencode": "opencode", "pi": "pi", "qwen": "qwen-code", "cline": "cline",
		}[name]
		if got.Who.Harness != harness {
			t.Errorf("%s #%d: harness %q, want %q", r.file, r.seq, got.Who.Harness, harness)
		}
		inferred := name == "qwen" || name == "cline" || name == "pi" && !strings.Contains(r.file, "responses")
		if (got.Who.Session == "") != inferred {
			t.Errorf("%s #%d: session %q", r.file, r.seq, got.Who.Session)
		}
		sub := r.header("x-claude-code-agent-id") + r.header("x-codex-parent-thread-id") + r.header("x-parent-session-id")
		switch got.Who.Kind {
		case kindTitle, kindClassifier, kindProbe:
			continue
		}
		if len(got.Tools) > 1 && got.Who.Lead() != (sub == "") {
			t.Errorf("%s #%d: %+v", r.file, r.seq, got.Who)
		}
	}
}
