package server

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// The tests of this file are named for rows of a list of public bug reports of
// agents on self-hosted endpoints; each says where it was reported, and holds
// what is right. Those that need no server are in dialect/bugs_test.go.

const (
	messagesPath  = "/v1/messages"
	responsesPath = "/v1/responses"
)

// TestBug1_SystemInMessages (ollama/ollama#17774): a system message inside the
// conversation is served by a template that allows one only at its start.
func TestBug1_SystemInMessages(t *testing.T) {
	b := newScripted(t, strictTemplate)
	b.ok(messagesPath, `{"model":"sim","max_tokens":9,"system":"be terse","messages":[{"role":"user","content":"hi"},{"role":"system","content":[{"type":"text","text":"ENV"}]},{"role":"assistant","content":"ho"},{"role":"user","content":"and"},{"role":"system","content":"LATER"}]}`)
	ordered(t, b.prompts()[0], "system\nbe terse", "hi", "ENV", "ho", "and", "LATER", "assistant\n")
}

// TestBug2_PlacedSteadily (vllm-project/vllm#48874): what such a message
// becomes does not move, so the next prompt goes on from this one.
func TestBug2_PlacedSteadily(t *testing.T) {
	b := newScripted(t, strictTemplate)
	first := `{"role":"user","content":"hi"},{"role":"system","content":"ENV"}`
	b.ok(messagesPath, `{"model":"sim","max_tokens":9,"messages":[`+first+`]}`)
	b.ok(messagesPath, `{"model":"sim","max_tokens":9,"messages":[`+first+`,{"role":"assistant","content":"ok"},{"role":"user","content":"and"},{"role":"system","content":"LATER"}]}`)
	one, two := b.prompts()[0], b.prompts()[1]
	if !strings.HasPrefix(two, one+"ok") {
		t.Errorf("the second prompt does not go on from the first:\n%s\n---\n%s", one, two)
	}
}

// TestBug8_TemplateErrorIsTheRequests (ai-dynamo/dynamo#14550): what a template
// refuses is a 400 that tells why.
func TestBug8_TemplateErrorIsTheRequests(t *testing.T) {
	b := newScripted(t, `{%- for m in messages -%}{%- if 'forbidden' in m.content -%}{{ raise_exception('no such word here') }}{%- endif -%}{{ m.role ~ m.content }}{%- endfor -%}`)
	for _, c := range conversations() {
		body := strings.Replace(c.first, "read the file", "a forbidden thing", 1)
		status, answer := b.post(t.Context(), c.path, body)
		if status != 400 || !strings.Contains(answer, "no such word here") {
			t.Errorf("%s: %d %s", c.name, status, answer)
		}
	}
}

// TestBug9_LeadingDevelopers (ai-dynamo/dynamo#10206): several developer
// messages at the start are one system message.
func TestBug9_LeadingDevelopers(t *testing.T) {
	b := newScripted(t, strictTemplate)
	b.ok(responsesPath, `{"model":"sim","input":[{"role":"developer","content":"ONE"},{"role":"developer","content":"TWO"},{"role":"user","content":"hi"}]}`)
	if p := b.prompts()[0]; strings.Count(p, "<|im_start|>system") != 1 {
		t.Errorf("got %s", p)
	}
	ordered(t, b.prompts()[0], "ONE", "TWO", "hi")
}

// TestBug10_OneNormaliser (raullenchai/Rapid-MLX#1543): what one API accepts
// the others do, and it becomes the same prompt.
func TestBug10_OneNormaliser(t *testing.T) {
	b := newScripted(t, strictTemplate)
	b.ok(messagesPath, `{"model":"sim","max_tokens":9,"system":"S","messages":[{"role":"user","content":"hi"},{"role":"system","content":"ENV"}]}`)
	b.ok(chatPath, `{"model":"sim","messages":[{"role":"system","content":"S"},{"role":"user","content":"hi"},{"role":"system","content":"ENV"}]}`)
	b.ok(responsesPath, `{"model":"sim","instructions":"S","input":[{"role":"user","content":"hi"},{"role":"developer","content":"ENV"}]}`)
	ps := b.prompts()
	if ps[0] != ps[1] || ps[1] != ps[2] {
		t.Errorf("three prompts:\n%s", strings.Join(ps, "\n---\n"))
	}
}

// attributions are the line's forms: of old with a part that changes with
// every request, of today, and in a block with other text.
var attributions = []string{
	`[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.150.a1b; cc_entrypoint=cli; cch=91737;"},{"type":"text","text":"be terse"}]`,
	`[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.332.9d8; cc_entrypoint=sdk-cli; cc_is_subagent=true;"},{"type":"text","text":"be terse"}]`,
	`[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.332.cf6; cc_entrypoint=cli;\nbe terse"}]`,
	`"be terse"`,
}

// steadySystem sends the forms and expects one prompt.
func steadySystem(t *testing.T, systems ...string) {
	t.Helper()
	b := newScripted(t, "")
	for _, s := range systems {
		b.ok(messagesPath, `{"model":"sim","max_tokens":9,"system":`+s+`,"messages":[{"role":"user","content":"hi"}]}`)
	}
	for i, p := range b.prompts() {
		if p != b.prompts()[0] || strings.Contains(p, "billing") {
			t.Errorf("form %d: %s", i, p)
		}
	}
}

// TestBug11_AttributionGoes (vllm-project/vllm#36829), TestBug12
// (ggml-org/llama.cpp#21793), TestBug13 (ollama/ollama#14918), TestBug15
// (musistudio/claude-code-router#1342): the line is no part of the prompt.
func TestBug11_AttributionGoes(t *testing.T) { steadySystem(t, attributions...) }

func TestBug12_AttributionOfOld(t *testing.T) {
	steadySystem(t, attributions[0], strings.Replace(attributions[0], "91737", "ca08c", 1))
}

func TestBug13_WithAndWithout(t *testing.T) { steadySystem(t, attributions[1], attributions[3]) }

func TestBug15_InsideABlock(t *testing.T) { steadySystem(t, attributions[2], attributions[3]) }

// TestBug17_OneFormOfContent (anthropics/claude-code#96101): a text and a list
// of one text, marked or not, are the same prompt.
func TestBug17_OneFormOfContent(t *testing.T) {
	b := newScripted(t, "")
	for _, content := range []string{`"hi"`, `[{"type":"text","text":"hi"}]`, `[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]`} {
		b.ok(messagesPath, `{"model":"sim","max_tokens":9,"messages":[{"role":"user","content":`+content+`},{"role":"system","content":`+content+`}]}`)
	}
	ps := b.prompts()
	if ps[0] != ps[1] || ps[1] != ps[2] {
		t.Errorf("three prompts:\n%s", strings.Join(ps, "\n---\n"))
	}
}

// TestBug18_OldBranchStays (anomalyco/opencode#23595): a client moves its
// reminder to the newest message; the older branch is still cached.
func TestBug18_OldBranchStays(t *testing.T) {
	r := newRig(t, 1)
	ask := func(n int, messages ...string) (prompt, cached int) {
		if status, body := r.post(chatPath, `{"model":"sim","max_tokens":9,"messages":[`+strings.Join(messages, ",")+`]}`); status != 200 {
			t.Fatal(status, body)
		}
		row := r.rows(n)[n-1]
		return row.Prompt, row.Cached
	}
	user := func(text string) string { return `{"role":"user","content":` + quote(text) + `}` }
	old := user(words(100) + "<system-reminder>plan</system-reminder>")
	whole, _ := ask(1, old)
	ask(2, user(words(100)), `{"role":"assistant","content":"a"}`, user("go <system-reminder>build</system-reminder>"))
	if _, cached := ask(3, old); whole-cached > 2*16 {
		t.Errorf("%d of %d tokens of the old branch are cached", cached, whole)
	}
}

// TestBug30_Counts (lmstudio-ai/lmstudio-bug-tracker#2055): count_tokens counts
// what the prompt has; a route that is none says so as Anthropic does.
func TestBug30_Counts(t *testing.T) {
	b := newScripted(t, "")
	body := `{"model":"sim","max_tokens":9,"messages":[{"role":"user","content":` + quote(words(50)) + `}],"tools":[{"name":"x","input_schema":{}}]}`
	b.ok(messagesPath, body)
	counted := b.ok(messagesPath+"/count_tokens?beta=true", body)
	if n := num(dig(doc(t, counted), "input_tokens")); int(n) != b.jobs[0].Prompt.Len() {
		t.Errorf("counted %v, the prompt has %d", n, b.jobs[0].Prompt.Len())
	}
	status, answer := b.post(t.Context(), messagesPath+"/novel", body)
	if status != 404 || str(dig(doc(t, answer), "error", "type")) != "not_found_error" {
		t.Errorf("%d %s", status, answer)
	}
}

// TestBug31_NoGrammar (lmstudio-ai/lmstudio-bug-tracker#2236): tools are no
// grammar for the engine.
func TestBug31_NoGrammar(t *testing.T) {
	b := newScripted(t, "")
	b.ok(messagesPath, `{"model":"sim","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"x","input_schema":{"$schema":"x","propertyNames":{"pattern":"("},"anyOf":[{"const":1}]}}]}`)
	if f := b.jobs[0].Format; f.Kind != turn.FreeText {
		t.Errorf("asked for %+v", f)
	}
}

// TestBug37_NamespacesEverywhere (vllm-project/vllm#49493): what the API has is
// flattened before any template, so each of them can do it.
func TestBug37_NamespacesEverywhere(t *testing.T) {
	templates := templatesOf(t, "*gpt-oss*.jinja")
	templates["strict"], templates["the simulated model's"] = strictTemplate, ""
	for name, tmpl := range templates {
		t.Run(name, func(t *testing.T) {
			b := newScripted(t, tmpl)
			b.ok(responsesPath, `{"model":"sim","input":"hi","tools":[{"type":"namespace","name":"multi","tools":[{"type":"function","name":"spawn","parameters":{"type":"object","properties":{}}}]},{"type":"web_search"}]}`)
			if p := b.prompts()[0]; !strings.Contains(p, "multi__spawn") {
				t.Errorf("got %s", p)
			}
		})
	}
}

// TestBug39_CatalogAndChains (ikawrakow/ik_llama.cpp#1964) and TestBug47
// (ollama/ollama#18419): Codex finds its catalog; a chain that nobody knows is
// a clear 4xx, never an answer without memory.
func TestBug39_CatalogAndChains(t *testing.T) {
	b := newScripted(t, "")
	b.ok(responsesPath, `{"model":"sim","input":[],"max_output_tokens":1,"client_metadata":{"a":"b"}}`)
	list := b.fetched("/v1/models?client_version=0.171.0")
	if str(dig(doc(t, list), "models", 0, "slug")) != "sim" || str(dig(doc(t, list), "models", 0, "base_instructions")) == "" {
		t.Errorf("got %s", list)
	}
}

func TestBug47_UnknownChain(t *testing.T) {
	b := newScripted(t, "")
	status, answer := b.post(t.Context(), responsesPath, `{"model":"sim","input":"hi","previous_response_id":"resp_unknown"}`)
	if status < 400 || status >= 500 || !strings.Contains(answer, "resp_unknown") {
		t.Errorf("%d %s", status, answer)
	}
}

// TestBug52_TooLong (jundot/omlx#26) and TestBug55
// (Alishahryar1/free-claude-code#391): a prompt over the window is refused in
// the words by which each client compacts.
func TestBug52_TooLong(t *testing.T) {
	b := newScripted(t, "")
	for _, c := range conversations() {
		status, answer := b.post(t.Context(), c.path, strings.Replace(c.first, "read the file", words(6000), 1))
		word := "maximum context length is 20000 tokens"
		if c.name == "messages" {
			word = "tokens > 20000 maximum"
		}
		if status != 400 || !strings.Contains(answer, word) {
			t.Errorf("%s: %d %s", c.name, status, answer)
		}
	}
}

func TestBug55_Envelope(t *testing.T) {
	b := newScripted(t, "")
	_, answer := b.post(t.Context(), messagesPath, `{"model":"sim","max_tokens":9,"messages":[{"role":"user","content":`+quote(words(6000))+`}]}`)
	got := doc(t, answer)
	if got["type"] != "error" || str(dig(got, "error", "type")) != "invalid_request_error" || str(got["request_id"]) == "" || !strings.HasPrefix(str(dig(got, "error", "message")), "prompt is too long: ") {
		t.Errorf("got %s", answer)
	}
}

// TestBug54_Clamped (anthropics/claude-code#476): a limit over the window
// becomes what fits.
func TestBug54_Clamped(t *testing.T) {
	b := newScripted(t, "")
	b.ok(messagesPath, `{"model":"sim","max_tokens":128000,"messages":[{"role":"user","content":"hi"}]}`)
	if j := b.jobs[0]; j.MaxTokens+j.Prompt.Len() != 20000 {
		t.Errorf("prompt %d, limit %d", j.Prompt.Len(), j.MaxTokens)
	}
}

// TestBug66_NoTemplateEdits (ollama/ollama#16988): the template keeps its
// guard, and is never given what it guards against.
func TestBug66_NoTemplateEdits(t *testing.T) {
	b := newScripted(t, strictTemplate)
	b.ok(messagesPath, `{"model":"sim","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"system","content":"ENV"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"x","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]},{"role":"system","content":"MORE"}]}`)
	ordered(t, b.prompts()[0], "hi", "ENV", "r", "MORE")
}

// TestBug57_SideRequests (jundot/omlx#2333): a title, a classifier and a
// subagent between two turns leave the session's cache alone.
func TestBug57_SideRequests(t *testing.T) {
	r := newRig(t, 1)
	session := []string{"x-claude-code-session-id", "S"}
	main := `{"role":"user","content":` + quote(words(200)) + `}`
	post := func(messages, more string, headers ...string) {
		if status, body := r.post(messagesPath, `{"model":"sim","max_tokens":9,"messages":[`+messages+`]`+more+`}`, append(headers, session...)...); status != 200 {
			t.Fatal(status, body)
		}
	}
	post(main, `,"system":"main"`)
	post(`{"role":"user","content":"name it"}`, `,"output_config":{"format":{"type":"json_schema","schema":{"properties":{"title":{}}}}}`)
	post(`{"role":"user","content":"ls"}`, `,"stop_sequences":["</block>"]`)
	post(`{"role":"user","content":"task"}`, `,"system":"sub"`, "x-claude-code-agent-id", "a1")
	first := r.rows(4)[0]
	post(main+`,{"role":"assistant","content":"a"},{"role":"user","content":"go on"}`, `,"system":"main"`)
	last := r.rows(5)[4]
	if last.Kind != "user" || last.Agent != "main" || first.Prompt-last.Cached > 2*16 {
		t.Errorf("%d of %d tokens cached, of the first prompt's %d; %s of %s", last.Cached, last.Prompt, first.Prompt, last.Kind, last.Agent)
	}
}
