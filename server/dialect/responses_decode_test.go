package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// codexTools are tools in all the forms that Codex sends.
const codexTools = `"tools":[
	{"type":"function","name":"exec","description":"d","strict":false,"parameters":{"type":"object"}},
	{"type":"namespace","name":"multi","description":"n","tools":[{"type":"function","name":"spawn","parameters":{"type":"object"}},{"type":"web_search"}]},
	{"type":"web_search","external_web_access":true},
	{"type":"custom","name":"patch","description":"p","format":{"type":"grammar","syntax":"lark","definition":"start: x"}}]`

func TestResponsesItems(t *testing.T) {
	runDecodings(t, turn.Responses, ``, []decoding{
		{"a string", `"instructions":"be brief","input":"hi"`, `
			system "be brief"
			user "hi"`},
		{"developers", `"input":[{"role":"developer","content":"a"},{"type":"message","id":"msg_1","role":"developer","content":[{"type":"input_text","text":"b"}]},{"role":"user","content":[{"type":"input_text","text":"c"},{"type":"input_image","image_url":"u"}]}]`, `
			system "a"
			system "b"
			user "c" image({"type":"input_image","image_url":"u"})`},
		{"an answer is one message", `"input":[{"role":"user","content":"go"},
			{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"},
			{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"one","annotations":[]}]},
			{"type":"function_call","call_id":"c1","name":"exec","arguments":"{\"cmd\": \"ls\"}","status":"completed"},
			{"type":"function_call","call_id":"c2","name":"exec","arguments":"{\"cmd\": \"ls"},
			{"type":"function_call_output","call_id":"c1","output":"r1"},
			{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]},
			{"role":"assistant","content":null}]`, `
			user "go"
			assistant think("hm" "e") "one" call(c1 exec {"cmd": "ls"}) call(c2 exec "{\"cmd\": \"ls")
			tool result(c1 "r1") result(c2 "a\nb")
			assistant`},
		{"namespaces and free text", codexTools + `,"input":[
			{"type":"function_call","call_id":"c1","name":"spawn","namespace":"multi","arguments":"{}"},
			{"type":"custom_tool_call","call_id":"c2","name":"patch","input":"*** \"x\"\n"},
			{"type":"custom_tool_call_output","call_id":"c2","output":"ok"}]`, `
			assistant call(c1 multi__spawn {}) call(c2 patch {"input":"*** \"x\"\n"})
			tool result(c2 "ok")`},
		{"a namespace without its tools", `"tools":[],"tool_choice":"auto","input":[{"type":"function_call","call_id":"c1","name":"spawn","namespace":"multi","arguments":""}]`, `
			assistant call(c1 multi__spawn {})`},
		{"thoughts in content, and in our own seal", `"input":[{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"a"},{"type":"reasoning_text","text":"b"}]},{"type":"reasoning","summary":[],"encrypted_content":"dyn1.aGlkZGVu"}]`, `
			assistant think("ab" "") think("hidden" "dyn1.aGlkZGVu")`},
		{"unknown items are kept", `"input":[{"type":"compaction","encrypted_content":"x"},{"role":"user","content":"a"},{"type":"web_search_call","id":"w"}]`, `
			user other({"type":"compaction","encrypted_content":"x"})
			user "a" other({"type":"web_search_call","id":"w"})`},
		{"an empty probe", `"input":[],"max_output_tokens":1`, `
			user ""`},
	})
}

func TestResponsesTools(t *testing.T) {
	got := decoded(t, turn.Responses, `{"model":"m","input":"x",`+codexTools+`,"tool_choice":{"type":"function","name":"spawn","namespace":"multi"},"parallel_tool_calls":false,"reasoning":{"effort":"none"}}`)
	if len(got.Tools) != 3 {
		t.Fatalf("tools: %+v", got.Tools)
	}
	spawn, patch := got.Tools[1], got.Tools[2]
	if spawn.Name != "multi__spawn" || spawn.Namespace != "multi" || spawn.Bare != "spawn" {
		t.Errorf("namespaced: %+v", spawn)
	}
	if !patch.Custom || !json.Valid(patch.Schema) || !strings.Contains(patch.Description, "start: x") {
		t.Errorf("free text: %+v", patch)
	}
	if got.ToolChoice.Name != "multi__spawn" || !got.OneCall || got.Thinking.Mode != "off" {
		t.Errorf("choice %+v, one call %v, thinking %+v", got.ToolChoice, got.OneCall, got.Thinking)
	}
}

// TestFlatNamesAreUnique has two tools that would get the same flat name.
func TestFlatNamesAreUnique(t *testing.T) {
	got := decoded(t, turn.Responses, `{"model":"m","tools":[
		{"type":"namespace","name":"a","tools":[{"type":"function","name":"b__c"}]},
		{"type":"namespace","name":"a__b","tools":[{"type":"function","name":"c"},{"type":"function","name":"c"}]}],
		"input":[{"type":"function_call","call_id":"1","name":"c","namespace":"a__b","arguments":"{}"}]}`)
	if len(got.Tools) != 2 || got.Tools[0].Name != "a__b__c" || got.Tools[1].Name != "a__b__c_2" {
		t.Fatalf("tools: %+v", got.Tools)
	}
	if name := got.Messages[0].Blocks[0].Name; name != "a__b__c_2" {
		t.Errorf("replayed as %s", name)
	}
}

func TestResponsesEcho(t *testing.T) {
	got := decoded(t, turn.Responses, `{"model":"m","input":"x","tools":[{"type":"web_search"}],"metadata":{"b":1, "a":2},"temperature":0.10,"client_metadata":{"private":1}}`)
	if !json.Valid(got.Echo) {
		t.Fatalf("echo: %s", got.Echo)
	}
	for _, want := range []string{`"metadata":{"b":1, "a":2}`, `"temperature":0.10`, `"tools":[{"type":"web_search"}]`, `"top_p":1`} {
		if !strings.Contains(string(got.Echo), want) {
			t.Errorf("echo lacks %s: %s", want, got.Echo)
		}
	}
	if strings.Contains(string(got.Echo), "private") {
		t.Errorf("echo tells too much: %s", got.Echo)
	}
}
