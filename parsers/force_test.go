package parsers

import (
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestOpening: what goes behind the prompt and what the model adds make one
// call, also when the end of the call was the stop string.
func TestOpening(t *testing.T) {
	for _, c := range []struct{ format, name, opening, rest string }{
		{"hermes", "", "<tool_call>\n", `{"name": "f", "arguments": {"x": 1}}` + "\n"},
		{"hermes", "f", "<tool_call>\n{\"name\": \"f\", \"arguments\": ", `{"x": 1}`},
		{"llama3_json", "f", `{"name": "f", "parameters": `, `{"x": 1}`},
		{"toolcall_list", "f", `<TOOLCALL>[{"name": "f", "arguments": `, `{"x": 1}`},
		{"toolcall_list", "", `<TOOLCALL>[`, `{"name": "f", "arguments": {"x": 1}}]</TOOLCALL>`},
		{"apertus", "f", `<|tools_prefix|>[{"f": `, `{"x": 1}`},
		{"cohere_command3", "f", `<|START_ACTION|>[{"tool_name": "f", "parameters": `, `{"x": 1}`},
		{"deepseek_v3", "f", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n", `{"x": 1}`},
		{"deepseek_v31", "f", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>", `{"x": 1}`},
		{"mistral", "f", "[TOOL_CALLS]f[ARGS]", `{"x": 1}`},
		{"mistral", "", "[TOOL_CALLS]", `f[ARGS]{"x": 1}`},
		{"kimi_k2", "", "<|tool_calls_section_begin|><|tool_call_begin|>functions.", `f:0<|tool_call_argument_begin|>{"x": 1}<|tool_call_end|>`},
		{"kimi_k2", "f", "", ""},   // a number follows the name
		{"solar", "f", "", ""},     // an id stands before it
		{"command_r", "f", "", ""}, // the fence may differ
		{"harmony", "f", "", ""},   // a header begins before the prompt ends
		{"think", "f", "", ""},     // no calls
		{"functionary31", "f", "<function=f>", `{"x": 1}`},
	} {
		f, err := Builtin().Format(c.format, "")
		if c.format == "think" {
			f, err = Builtin().Format("", c.format)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Opening(c.name); got != c.opening {
			t.Errorf("%s: opening of %q is %q, want %q", c.format, c.name, got, c.opening)
		}
		if c.opening == "" {
			if end := f.Closing(); end != "" && c.format != "kimi_k2" {
				t.Errorf("%s: closing %q", c.format, end)
			}
			continue
		}
		closings := []string{"", f.Closing()}
		if c.name == "" {
			closings = []string{"", f.CallEnd()}
		}
		for _, end := range closings {
			s := f.Open(Options{Offered: []turn.Tool{{Name: "f"}}})
			a := collect(t, s.Close(s.Push(nil, f.Opening(c.name)+c.rest+end)))
			if len(a.calls) != 1 || a.calls[0].name != "f" || a.calls[0].args != `{"x": 1}` || a.content != "" {
				t.Errorf("%s with %q: %+v", c.format, end, a)
			}
			if end != "" && a.calls[0].flaws != 0 {
				t.Errorf("%s: a closed call has flaws %b", c.format, a.calls[0].flaws)
			}
		}
	}
	var none *Format
	if none.Opening("x") != "" || none.CallEnd() != "" || none.Closing() != "" || none.Mute() != nil {
		t.Error("without a format calls have no opening")
	}
}
