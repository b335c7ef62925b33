package dialect

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestKinds tells what turns are for by what they look like.
func TestKinds(t *testing.T) {
	const result = `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}`
	for _, c := range []struct{ name, messages, more, want string }{
		{"a person", `{"role":"user","content":"hi"}`, ``, kindUser},
		{"a person, behind reminders", `{"role":"user","content":[{"type":"text","text":"<system-reminder>x"},{"type":"text","text":"hi"}]},{"role":"system","content":"env"}`, ``, kindUser},
		{"a person again", `{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},{"role":"user","content":"hi"}`, ``, kindUser},
		{"a result", `{"role":"user","content":"hi"},` + result + `]}`, ``, kindTool},
		{"a result with a reminder", `{"role":"user","content":"hi"},` + result + `,{"type":"text","text":"<system-reminder>x</system-reminder>"}]},{"role":"system","content":"env"}`, ``, kindTool},
		{"a result and a person", `{"role":"user","content":"hi"},` + result + `,{"type":"text","text":"stop that"}]}`, ``, kindUser},
		{"a result and a picture", `{"role":"user","content":"hi"},` + result + `,{"type":"text","text":"see"},{"type":"image"}]}`, ``, kindUser},
		{"a task that ran beside", `{"role":"user","content":"hi"},{"role":"assistant","content":"started"},{"role":"user","content":"<task-notification>done"}`, ``, kindTool},
		{"a classifier", `{"role":"user","content":"ls"}`, `,"stop_sequences":["</block>"]`, kindClassifier},
		{"the classifier's second look", `{"role":"user","content":"ls"}`, `,"system":"You are a security monitor for agents"`, kindClassifier},
		{"a title", `{"role":"user","content":"ls"}`, `,"output_config":{"format":{"type":"json_schema","schema":{"properties":{"title":{}}}}}`, kindTitle},
		{"another format", `{"role":"user","content":"ls"}`, `,"output_config":{"format":{"type":"json_schema","schema":{"properties":{"age":{}}}}}`, kindUser},
		{"a title by its prompt", `{"role":"user","content":"ls"}`, `,"system":"Generate a short title for this conversation"`, kindTitle},
		{"a probe", `{"role":"user","content":"quota"}`, `,"max_tokens":1`, kindProbe},
		{"a summary at the end", `{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"CRITICAL: Respond with TEXT ONLY. Do"}`, `,"tools":[{"name":"x"}]`, KindCompaction},
		{"a summary of its own", `{"role":"user","content":"<conversation>"}`, `,"system":"You are a context summarization agent."`, KindCompaction},
		{"a question about summaries", `{"role":"user","content":"summarize this conversation"}`, ``, kindUser},
		{"a search", `{"role":"user","content":"look for x"}`, `,"tools":[{"type":"web_search_20250305","name":"web_search"}]`, kindSubagent},
	} {
		got := decoded(t, turn.Messages, `{"model":"m","max_tokens":9,"messages":[`+c.messages+`]`+c.more+`}`)
		if got.Who.Kind != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got.Who.Kind, c.want)
		}
	}
}

// TestSubagentKind: only the first turn of a subagent is one.
func TestSubagentKind(t *testing.T) {
	header := withHeaders("x-claude-code-session-id: s\nx-claude-code-agent-id: a1")
	for messages, want := range map[string]string{
		`{"role":"user","content":"task"}`: kindSubagent,
		`{"role":"user","content":"task"},{"role":"assistant","content":"b"},{"role":"user","content":"more, please"}`: kindUser,
	} {
		got, err := messagesCodec().Decode([]byte(`{"model":"m","max_tokens":9,"messages":[`+messages+`]}`), header, nil)
		if err != nil || got.Who.Kind != want || got.Who.Agent != "a1" {
			t.Errorf("%s: %+v, %v", messages, got.Who, err)
		}
	}
}

// TestClineKinds: Cline names neither itself nor its subagents in headers.
func TestClineKinds(t *testing.T) {
	tools := func(names ...string) string {
		var all []string
		for _, name := range names {
			all = append(all, `{"type":"function","function":{"name":"`+name+`"}}`)
		}
		return strings.Join(all, ",")
	}
	lead := tools("read_files", "search_codebase", "run_commands", "editor", "spawn_agent", "team_status")
	sub := tools("read_files", "search_codebase", "run_commands", "editor", "spawn_agent")
	const task = `{"role":"user","content":"take two steps"}`
	const step = task + `,{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"run_commands","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}`
	for _, c := range []struct{ name, system, messages, tools, harness, kind string }{
		{"the lead", "You are Cline, an AI coding agent.", task, lead, "cline", kindUser},
		{"the lead without teams", "You are Cline, an AI coding agent.", task, sub, "cline", kindUser},
		{"the lead with a prompt of its own", "You help.", task, lead, "cline", kindUser},
		{"a subagent", "You take steps.", task, sub, "cline", kindSubagent},
		{"a subagent goes on", "You take steps.", step, sub, "cline", kindTool},
		{"somebody else", "You take steps.", task, tools("read_files", "editor"), "", kindUser},
	} {
		got := decoded(t, turn.Chat, `{"model":"m","messages":[{"role":"system","content":"`+c.system+`"},`+c.messages+`],"tools":[`+c.tools+`]}`)
		if got.Who.Harness != c.harness || got.Who.Kind != c.kind {
			t.Errorf("%s: %+v, want %q of %q", c.name, got.Who, c.kind, c.harness)
		}
	}
}

func messagesCodec() Codec { return messages{} }

// TestRecordedKinds looks at the kinds of recorded requests: files are named
// for what they show.
func TestRecordedKinds(t *testing.T) {
	seen := map[string]map[string]int{}
	for _, r := range recordings(t) {
		c := codecOf(&r)
		if c == nil {
			continue
		}
		got, err := c.Decode(r.full, r.header, nil)
		if err != nil {
			t.Fatal(err)
		}
		if seen[r.file] == nil {
			seen[r.file] = map[string]int{}
		}
		seen[r.file][got.Who.Kind]++
		if got.Who.Kind == kindTool && got.Messages[len(got.Messages)-1].Role == turn.Assistant {
			t.Errorf("%s #%d: results, and the last word is an answer's", r.file, r.seq)
		}
	}
	for file, kinds := range seen {
		for word, want := range map[string]string{
			"toolloop": kindTool, "-compact": KindCompaction, "-subagent": kindSubagent, "websearch": kindSubagent,
			"automode-local": kindClassifier, "oneshot": kindUser, "reasoning": kindTool,
		} {
			if strings.Contains(file, word) && kinds[want] == 0 {
				t.Errorf("%s: no turn of kind %s in %v", file, want, kinds)
			}
		}
		if file == "qwen-resume.json" && kinds[kindMemory] == 0 {
			t.Errorf("%s: no extraction of memories in %v", file, kinds)
		}
		if strings.HasPrefix(file, "opencode-oneshot") && kinds[kindTitle] == 0 {
			t.Errorf("%s: no title in %v", file, kinds)
		}
	}
	t.Logf("%v", seen)
}
