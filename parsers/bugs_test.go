package parsers

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestBugs are reports about other parsers, by the number of the list that
// docs/parsers.md tells of, as far as they concern calls in JSON, names with
// JSON, and reasoning.
func TestBugs(t *testing.T) {
	call := func(name, args string) string {
		return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + args + "}\n</tool_call>"
	}
	const (
		kimiOpen  = "<|tool_calls_section_begin|><|tool_call_begin|>"
		kimiClose = "<|tool_call_end|><|tool_calls_section_end|>"
		kimiArgs  = "<|tool_call_argument_begin|>"
	)
	for format, list := range map[string][]row{
		"hermes": {
			{"4 a name is whole", "", call("say", `{"text": "a"}`), `|say{"text": "a"}`},
			{"7 two at once", "", call("f", "{}") + call("say", "{}"), "|f{}|say{}"},
			{"28 text behind a call", "", "a\n" + call("f", "{}") + "\nand b", "a\n\nand b|f{}"},
			{"31 text before a call", "", "I look.\n" + call("f", `{"a": 1}`), `I look.|f{"a": 1}`},
			{"59 copied from the tool", "", `<tool_call>{"type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}</tool_call>`, `|f{"a": 1} repaired`},
			{"59 other keys", "", `<tool_call>{"type": "function", "name": "f", "index": {"a": [1]}, "arguments": {"a": 1}}</tool_call>`, `|f{"a": 1}`},
		},
		"qwen3": {
			{"13 end of thought and call in one", "<think>\n", "ok</think>" + call("f", "{}") + call("say", "{}"), "((ok))|f{}|say{}"},
			{"39 closed by the prompt", "<think>\n\n</think>\n\n", "4 < 5", "4 < 5"},
			{"40 only the end of thought", "<think>\n", "hm\n</think>\n\nYes.", "((hm))Yes."},
			{"41 opened by the prompt", "<|im_start|>assistant\n<think>\n", "hm\n</think>\n\nYes.", "((hm))Yes."},
			{"46 stuck in thought", "<think>\n", "I have to call now.\n" + call("f", `{"a": 1}`) + "\n", `((I have to call now.))|f{"a": 1}`},
			{"43 call in open thought", "<think>\n", "I call.\n" + call("f", "{}"), "((I call.))|f{}"},
			{"44 thought behind white space", "", "\n<think>\nhm</think>Yes.", "((hm))Yes."},
			{"45 draft in thought", "<think>\n", "maybe " + call("f", "{}") + " or not</think>No.", "((maybe " + call("f", "{}") + " or not))No."},
			{"47 mentioned in thought", "<think>\n", "I could write <tool_call> here.</think>No.", "((I could write <tool_call> here.))No."},
			{"49 thought before a required call", "", "<think>\nso\n</think>\n\n" + call("f", "{}"), "((so))|f{}"},
		},
		"kimi_k2": {
			{"21 no markers in content", "", "a" + kimiOpen + "functions.f:0" + kimiArgs + "{}" + kimiClose + "b", "ab|f{}"},
			{"22 sections of both spellings", "", "<|tool_call_section_begin|><|tool_call_begin|>functions.f:0" + kimiArgs + "{}<|tool_call_end|><|tool_call_section_end|>", "|f{}"},
			{"35 several", "", kimiOpen + "functions.f:0" + kimiArgs + "{}<|tool_call_end|>\n<|tool_call_begin|>functions.say:1" + kimiArgs + `{"n": 2}` + kimiClose, `|f{}|say{"n": 2}`},
			{"48 first marker behind a thought", "<think>", "hm</think>" + kimiOpen + "functions.f:0" + kimiArgs + "{}" + kimiClose, "((hm))|f{}"},
			{"58 underscores in the header", "", kimiOpen + "functions_say_12" + kimiArgs + "{}" + kimiClose, "|say{}"},
			{"58 no index", "", kimiOpen + "functions.say" + kimiArgs + "{}" + kimiClose, "|say{}"},
			{"58 no prefix", "", kimiOpen + "say:3" + kimiArgs + "{}" + kimiClose, "|say{}"},
			{"58 line feed in the header", "", "<|tool_calls_section_begin|>\n<|tool_call_begin|>\nfunctions.say:0\n" + kimiArgs + "\n{}\n" + kimiClose, "|say{}"},
		},
		"deepseek_v31": {
			{"61 ends of calls", "", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁call▁begin｜>say<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "|f{}|say{}"},
			{"61 no ends at all", "", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 1}", `|f{"a": 1}`},
		},
		"mistral": {
			{"14 list", "", `[TOOL_CALLS][{"name": "f", "arguments": {"a": 12}}, {"name": "say", "arguments": {}}]`, `|f{"a": 12}|say{}`},
			{"14 list with white space", "", "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {}}]", "|f{}"},
			{"14 names", "", `[TOOL_CALLS]f[ARGS]{"a": 12}[TOOL_CALLS]say[ARGS]{}`, `|f{"a": 12}|say{}`},
			{"14 id", "", `[TOOL_CALLS]f[CALL_ID]abcDEF123[ARGS]{"a": 1}`, `|f{"a": 1}`},
		},
		"llama3_json": {
			{"59 copied from the tool", "", `{"type": "function", "function": {"name": "f", "parameters": {"a": 1}}}`, `|f{"a": 1} repaired`},
			{"59 type before the name", "", `{"type": "function", "name": "f", "parameters": {"a": 1}}`, `|f{"a": 1}`},
			{"59 behind the tag", "", `<|python_tag|>{"type": "function", "name": "g", "parameters": {"a": 1}}`, `|g{"a": 1} unknown`},
			{"43 a JSON answer", "", `{"name": "Ada", "parameters_used": 3}`, `{"name": "Ada", "parameters_used": 3}`},
			{"43 a JSON answer of other keys", "", `{"result": {"name": "f", "parameters": {}}}`, `{"result": {"name": "f", "parameters": {}}}`},
			{"43 a tool's name without arguments", "", `{"name": "f"}`, `{"name": "f"}`},
			{"two, with a semicolon", "", `{"name": "f", "parameters": {}}; {"name": "say", "parameters": {}}`, "|f{}|say{}"},
			{"second is unknown", "", `{"name": "f", "parameters": {}}; {"name": "x", "parameters": {}}`, `{"name": "x", "parameters": {}}|f{}`},
			{"text first", "", `See {"name": "f", "parameters": {}}`, `See {"name": "f", "parameters": {}}`},
		},
	} {
		t.Run(format, func(t *testing.T) { rows(t, format, list) })
	}
}

// TestBugIDs: ids of a format are the client's (58, 21).
func TestBugIDs(t *testing.T) {
	for _, c := range []struct{ format, text, id string }{
		{"kimi_k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:7<|tool_call_argument_begin|>{}<|tool_call_end|>", "functions.f:7"},
		{"kimi_k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions_f_7<|tool_call_argument_begin|>{}<|tool_call_end|>", "functions_f_7"},
		{"mistral", "[TOOL_CALLS]f[CALL_ID]abcDEF123[ARGS]{}", "abcDEF123"},
		{"solar", "<|tool_calls|><|tool_call:begin|>x9<|tool_call:name|>f<|tool_call:args|>{}<|tool_call:end|><|calls|>", "x9"},
		{"hermes", `<tool_call>{"id": "1", "name": "f"}</tool_call>`, "c1"},
	} {
		a := read(t, Options{Tools: c.format, Offered: rowTools}, false, c.text)
		if len(a.calls) != 1 || a.calls[0].id != c.id || a.calls[0].name != "f" {
			t.Errorf("%s: %+v, want id %q", c.format, a, c.id)
		}
	}
}

// TestBug50: markers are any UTF-8 (50).
func TestBug50(t *testing.T) {
	text := "◁think▷weiß ◁ nicht◁/think▷Ja ◁ ▷."
	a := read(t, Options{Reasoning: "kimi"}, false, text)
	if a.reasoning != "weiß ◁ nicht" || a.content != "Ja ◁ ▷." {
		t.Errorf("%+v", a)
	}
	splits(t, Options{Reasoning: "kimi"}, false, text, a)
}

// TestBug64: a call that a token limit cut is marked, and nothing is added to
// it (64, 65).
func TestBug64(t *testing.T) {
	for _, c := range []struct{ format, text, args string }{
		{"deepseek_v4", "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"say\">\n<｜DSML｜parameter name=\"text\" string=\"true\">half a", `{"text":"half a`}, // 65
		{"hermes", `<tool_call>{"name": "f", "arguments": {"a": "b`, `{"a": "b`},
		{"kimi_k2", `<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": [1, `, `{"a": [1`},
		{"mistral", `[TOOL_CALLS]f[ARGS]{"a": tr`, `{"a":`},
		{"toolcall_list", `<TOOLCALL>[{"name": "f", "arguments": {"a": {`, `{"a": {`},
		{"deepseek_v3", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"a\"", `{"a"`},
	} {
		a := read(t, Options{Tools: c.format, Offered: rowTools}, true, c.text)
		if len(a.calls) != 1 || a.calls[0].args != c.args || a.calls[0].flaws != turn.Truncated || finishReason(a, "length") != "length" {
			t.Errorf("%s: %+v", c.format, a)
		}
	}
}

// TestPeers are faults of published parsers, by the number that the list of
// docs/parsers.md gives them.
func TestPeers(t *testing.T) {
	for format, list := range map[string][]row{
		"hermes": {
			{"12 text and marker in one", "", "Look:<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", "Look:|f{}"},
			{"13 text behind", "", "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call> done", " done|f{}"},
			{"15 marker in prose", "", "Write <tool_call> and more.", "Write <tool_call> and more."},
			{"15 half a marker at the end", "", "a <tool_", "a <tool_"},
			{"21 closer in a string", "", `<tool_call>{"name": "say", "arguments": {"text": "x</tool_call>y"}}</tool_call>`, `|say{"text": "x</tool_call>y"}`},
			{"21 opener in a string", "", `<tool_call>{"name": "say", "arguments": {"text": "<tool_call>{\"name\": \"f\"}"}}</tool_call>`, `|say{"text": "<tool_call>{\"name\": \"f\"}"}`},
			{"23 no closer", "", `<tool_call>{"name": "f", "arguments": {}}`, "|f{}"},
		},
		"qwen3": {
			{"16 thought behind a line feed", "", "\n<think>a</think>b", "((a))b"},
			{"22 draft", "<think>", "<tool_call>{\"name\": \"f\"}</tool_call> not yet</think>ok", "((<tool_call>{\"name\": \"f\"}</tool_call> not yet))ok"},
		},
		"mistral": {
			{"11 id", "", "[TOOL_CALLS]say[CALL_ID]abcDEF123[ARGS]{}", "|say{}"},
			{"11 list", "", `[TOOL_CALLS][{"name": "say", "arguments": {}, "id": "abcDEF123"}]`, "|say{}"},
		},
		"deepseek_v3": {
			{
				"18 fence", "", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>say\n```json\n{\"text\": \"```\"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
				"|say{\"text\": \"```\"}|f{}",
			},
			{"18 text behind", "", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>ok", "ok|f{}"},
		},
		"granite_20b_fc": {
			{"18 two", "", "<function_call> {\"name\": \"f\", \"arguments\": {\"a\": 1}}\n<function_call> {\"name\": \"say\", \"arguments\": {}}", `|f{"a": 1}|say{}`},
		},
		"cohere_command3": {
			{"18 the same twice", "", `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {}}, {"tool_call_id": "1", "tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>`, `|f{}|f{"a": 1}`},
		},
		"tool_calls_list": {
			{"18 arguments once", "", `<tool_calls>[{"name": "f", "arguments": {"a": 1}}]</tool_calls>`, `|f{"a": 1}`},
			{"24 the frame of Apriel", "Here are my reasoning steps:\n", "\nhm\n[BEGIN FINAL RESPONSE]\nYes.", "((hm))Yes."},
		},
		"xlam": {
			{"18 list", "", `[{"name": "f", "arguments": {"a": {"b": [1]}}}, {"name": "say", "arguments": {}}]`, `|f{"a": {"b": [1]}}|say{}`},
			{"no list of calls", "", `[{"name": "x", "arguments": {}}, 2]`, `[{"name": "x", "arguments": {}}, 2]`},
			{"behind a thought", "", `<think>hm</think>[{"name": "f", "arguments": {}}]`, "((hm))|f{}"},
		},
		"internlm": {
			{"20 two", "", "<|action_start|><|plugin|>\n{\"name\": \"f\", \"parameters\": {}}<|action_end|><|action_start|><|plugin|>{\"name\": \"say\", \"parameters\": {}}<|action_end|>", "|f{}|say{}"},
		},
		"phi4_mini_json": {
			{"20 nested lists", "", `functools[{"name": "f", "arguments": {"a": [[1, "]"], [2]], "b": "]]"}}]`, `|f{"a": [[1, "]"], [2]], "b": "]]"}`},
			{"the word in prose", "", "import functools", "import functools"},
			{"the word in code", "", "functools.reduce(f, [1, 2])", "functools.reduce(f, [1, 2])"},
		},
		"apertus": {
			{"12 text and marker in one", "", `Ok.<|tools_prefix|>[{"f": {"a": 1}}, {"now": {}}]<|tools_suffix|>`, `Ok.|f{"a": 1}|now{}`},
		},
		"solar": {
			{"24 calls", "", "<|think|>hm<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>1<|tool_call:name|>f<|tool_call:args|>{}<|tool_call:end|><|calls|>", "((hm))|f{}"},
		},
		"minimax_m1": {
			{"24 lines", "", "<tool_calls>\n{\"name\": \"f\", \"arguments\": {}}\n{\"name\": \"say\", \"arguments\": {\"n\": 1}}\n</tool_calls>\nok", "ok|f{}|say{\"n\": 1}"},
		},
		"functionary31": {
			{"24 calls", "", "<function=f>{\"a\": 1}</function><function=say>{}</function>", `|f{"a": 1}|say{}`},
			{"a tag in prose", "", "Use <function=f> so.", "Use <function=f> so."},
		},
		"firefunction": {
			{"24 list", "", `functools[{"name": "f", "arguments": {}}]`, "|f{}"},
		},
		"command_r": {
			{"fenced", "", "Action: ```json\n[\n    {\n        \"tool_name\": \"f\",\n        \"parameters\": {\"a\": 1}\n    }\n]```", `|f{"a": 1}`},
			{"the word in prose", "", "Action: wait", "Action: wait"},
		},
		"gigachat3": {
			{"one", "", "Ok.<|message_sep|>\n\nfunction call<|role_sep|>\n{\"name\": \"f\", \"arguments\": {}}", "Ok.|f{}"},
		},
	} {
		t.Run(format, func(t *testing.T) { rows(t, format, list) })
	}
}

// TestStreams: arguments are sent as they come, so that a piece of them is
// never held back for the end of the call (1, 6).
func TestStreams(t *testing.T) {
	for format, opening := range map[string]string{
		"hermes":        `<tool_call>{"name": "say", "arguments": {"text": "`,
		"llama3_json":   `{"name": "say", "parameters": {"text": "`,
		"apertus":       `<|tools_prefix|>[{"say": {"text": "`,
		"kimi_k2":       `<|tool_calls_section_begin|><|tool_call_begin|>functions.say:0<|tool_call_argument_begin|>{"text": "`,
		"deepseek_v3":   "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>say\n```json\n{\"text\": \"",
		"mistral":       `[TOOL_CALLS]say[ARGS]{"text": "`,
		"functionary31": `<function=say>{"text": "`,
	} {
		s, err := New(Options{Tools: format, Offered: rowTools})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		events := s.Push(nil, opening)
		for range 3 {
			events = s.Push(events, "word ")
		}
		for _, e := range events {
			said.WriteString(e.Call.Name + e.Text)
		}
		if want := `say{"text": "word word word `; said.String() != want {
			t.Errorf("%s: %q was sent, want %q", format, said.String(), want)
		}
	}
}

// TestHoldBack: no more text is held than what may begin a marker.
func TestHoldBack(t *testing.T) {
	for _, spec := range Specs() {
		if spec.Bare || spec.Frame != nil || spec.Reasoning != nil && spec.Reasoning.Always {
			continue // what comes first may be a call, or is a header
		}
		s, err := Using(spec, Options{})
		if err != nil {
			t.Fatal(err)
		}
		longest := 0
		for _, list := range spec.Markers() {
			for _, m := range list {
				longest = max(longest, len(m))
			}
		}
		sent, pushed, most := 0, 0, 0
		text := strings.Repeat("Plain words, a < b and [1], then {x} | y > z: Action is taken by function f, ｜ ◁ and so on. ", 4)
		for _, p := range perByte(strings.TrimSpace(text)) {
			pushed++
			for _, e := range s.Push(nil, p) {
				sent += len(e.Text)
			}
			most = max(most, pushed-sent)
		}
		if most > longest || most > 12 {
			t.Errorf("%s: up to %d bytes are held back, the longest marker has %d", spec.Name, most, longest)
		}
	}
}
