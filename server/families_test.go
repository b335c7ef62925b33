package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/internal/fixtures/families"
	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/prompt"
)

// familyBrain is a loop of two tool calls and an answer, in no family's words.
// A result names the step that it is of.
const familyBrain = `
rules:
  - when: 'result-of-two'
    answer: {reasoning: Both are done now., content: 'All is done, "1 < 2" & é.'}
  - when: 'result-of-one'
    answer:
      reasoning: One is left.
      content: Now the second.
      calls: [{name: run_step, arguments: {step: "two\n\n  indented", count: 2, ratio: 0.5, dry: false, more: {list: [1, "x"], in: {"a b": true}}, words: [é, "\"q\""]}}]
  - when: 'Take both steps'
    answer:
      reasoning: Two steps are needed.
      calls: [{name: run_step, arguments: {step: 'one "quoted" <b>', count: -7, dry: true}}]
`

// familySchema is of the arguments of run_step.
const familySchema = `{"type":"object","properties":{"step":{"type":"string"},"count":{"type":"integer"},"ratio":{"type":"number"},` +
	`"dry":{"type":"boolean"},"more":{"type":"object"},"words":{"type":"array","items":{"type":"string"}}},"required":["step"]}`

// familyArgs are the arguments of the two calls.
var familyArgs = []string{
	`{"step":"one \"quoted\" <b>","count":-7,"dry":true}`,
	`{"step":"two\n\n  indented","count":2,"ratio":0.5,"dry":false,"more":{"list":[1,"x"],"in":{"a b":true}},"words":["é","\"q\""]}`,
}

// Ten families, each with its template, its special tokens and its way to
// write: a loop of tool calls goes round in all dialects. The client gets the
// calls as they were meant and none of the markers, and the engine finds each
// prompt and each answer of before in its cache.
func TestFamilies(t *testing.T) {
	for _, f := range families.All {
		t.Run(f.Name, func(t *testing.T) {
			dir := t.TempDir()
			if err := f.Write(fixtures.Dir(t, ""), dir); err != nil {
				t.Fatal(err)
			}
			r := familyRig(t, f, dir)
			turns := 0
			for _, d := range []manner{chatOf, messagesOf, responsesOf} {
				r.loop(f, d)
				turns += 3
				r.reused(f, d, turns)
			}
		})
	}
}

// familyRig is a server over an engine that speaks as a family does.
func familyRig(t *testing.T, f families.Family, dir string) *rig {
	t.Helper()
	m, err := prompt.Open(dir, prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	format, err := parsers.Builtin().Format(f.Name, f.Reasoning)
	if err != nil {
		t.Fatal(err)
	}
	brain := filepath.Join(dir, "brain.yaml")
	if err := os.WriteFile(brain, []byte(familyBrain), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--model-dir", dir, "--brain", brain, "--tool-call-parser", f.Name, "--reasoning-parser", f.Reasoning}
	return newRigOf(t, Options{}, Model{ID: "sim", Prompt: m, Parser: format}, 1, flags...)
}

// familyAnswer is an answer, in any dialect.
type familyAnswer struct {
	reasoning, text string
	name, args, id  string // of its call
	said            []json.RawMessage
}

// manner is how a conversation is held in a dialect.
type manner struct {
	name, path, list string
	more             string
	user             func(text string) string
	result           func(id, text string) string
	read             func(body gjson.Result) familyAnswer
}

var chatOf = manner{
	name: "chat", path: "/v1/chat/completions", list: "messages",
	more: `,"tools":[{"type":"function","function":{"name":"run_step","description":"Takes a step.","parameters":` + familySchema + `}}]`,
	user: func(text string) string { return `{"role":"user","content":` + quoted(text) + `}` },
	result: func(id, text string) string {
		return `{"role":"tool","tool_call_id":` + quoted(id) + `,"content":` + quoted(text) + `}`
	},
	read: func(body gjson.Result) familyAnswer {
		m := body.Get("choices.0.message")
		call := m.Get("tool_calls.0")
		return familyAnswer{
			reasoning: m.Get("reasoning_content").Str + m.Get("reasoning").Str, text: m.Get("content").Str, id: call.Get("id").Str,
			name: call.Get("function.name").Str, args: call.Get("function.arguments").Str, said: []json.RawMessage{json.RawMessage(m.Raw)},
		}
	},
}

var messagesOf = manner{
	name: "messages", path: "/v1/messages", list: "messages",
	more: `,"max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},"tools":[{"name":"run_step","description":"Takes a step.","input_schema":` + familySchema + `}]`,
	user: chatOf.user,
	result: func(id, text string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":` + quoted(id) + `,"content":` + quoted(text) + `}]}`
	},
	read: func(body gjson.Result) (a familyAnswer) {
		for _, b := range body.Get("content").Array() {
			a.reasoning += b.Get("thinking").Str
			a.text += b.Get("text").Str
			if b.Get("type").Str == "tool_use" {
				a.id, a.name, a.args = b.Get("id").Str, b.Get("name").Str, b.Get("input").Raw
			}
		}
		a.said = []json.RawMessage{json.RawMessage(`{"role":"assistant","content":` + body.Get("content").Raw + `}`)}
		return a
	},
}

var responsesOf = manner{
	name: "responses", path: "/v1/responses", list: "input",
	more: `,"reasoning":{"effort":"medium"},"tools":[{"type":"function","name":"run_step","description":"Takes a step.","parameters":` + familySchema + `}]`,
	user: chatOf.user,
	result: func(id, text string) string {
		return `{"type":"function_call_output","call_id":` + quoted(id) + `,"output":` + quoted(text) + `}`
	},
	read: func(body gjson.Result) (a familyAnswer) {
		for _, item := range body.Get("output").Array() {
			switch item.Get("type").Str {
			case "reasoning":
				a.reasoning += item.Get("content.0.text").Str
			case "message":
				a.text += item.Get("content.0.text").Str
			case "function_call":
				a.id, a.name, a.args = item.Get("call_id").Str, item.Get("name").Str, item.Get("arguments").Str
			}
			a.said = append(a.said, json.RawMessage(item.Raw))
		}
		return a
	},
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string has a JSON form
	return string(b)
}

// loop holds the conversation of familyBrain.
func (r *rig) loop(f families.Family, d manner) {
	r.t.Helper()
	history := []json.RawMessage{json.RawMessage(d.user("Take both steps, in " + d.name + "."))}
	for i := range 3 {
		list, _ := json.Marshal(history)
		status, body := r.post(d.path, `{"model":"sim","`+d.list+`":`+string(list)+d.more+`}`)
		if status != 200 {
			r.t.Fatalf("%s, turn %d: status %d: %s", d.name, i+1, status, body)
		}
		a := d.read(gjson.Parse(body))
		r.plain(d, a)
		switch {
		case i == 2:
			if a.name != "" || strings.TrimSpace(a.text) != `All is done, "1 < 2" & é.` {
				r.t.Errorf("%s: the last answer is %+v", d.name, a)
			}
		case a.name != "run_step" || !sameJSON(a.args, familyArgs[i]) || a.id == "":
			r.t.Fatalf("%s, turn %d: got %s(%s) id %q, want %s\n%s", d.name, i+1, a.name, a.args, a.id, familyArgs[i], body)
		}
		if want := [...]string{"Two steps are needed.", "One is left.", "Both are done now."}[i]; f.Reasoning != "" && d.name == "messages" && strings.TrimSpace(a.reasoning) != want {
			r.t.Errorf("%s, turn %d: reasoning is %q, want %q", d.name, i+1, a.reasoning, want)
		}
		history = append(append(history, a.said...), json.RawMessage(d.result(a.id, [...]string{"result-of-one", "result-of-two", ""}[i])))
	}
}

// plain looks for markers in what a client reads.
func (r *rig) plain(d manner, a familyAnswer) {
	r.t.Helper()
	for _, s := range []string{a.text, a.reasoning} {
		for _, mark := range []string{"<|", "|>", "<｜", "think>", "tool_call", "[TOOL", "<arg", "<function", "<invoke", "<minimax", "[e~[", "]~b", "{\"name\"", "channel"} {
			if strings.Contains(s, mark) {
				r.t.Errorf("%s: %q in %q", d.name, mark, s)
			}
		}
	}
}

// sameJSON reports whether two JSON texts are the same value.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// reused looks at the last loop's rows: each prompt begins with the one before
// and its answer, as the engine's cache tells.
func (r *rig) reused(f families.Family, d manner, n int) {
	r.t.Helper()
	rows := r.rows(n)
	loop := rows[len(rows)-3:]
	for i := 1; i < 3; i++ {
		before, now := loop[i-1], loop[i]
		if want := (before.Prompt + before.Output) / 16 * 16; now.Cached < want-16 {
			r.t.Errorf("%s, turn %d: %d tokens of %d were cached, want %d (of %d and %d)", d.name, i+1, now.Cached, now.Prompt, want, before.Prompt, before.Output)
		}
	}
}
