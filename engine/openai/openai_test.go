package openai

import (
	"encoding/json"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func says(s string) turn.Block { return turn.Block{Kind: turn.Text, Text: s} }

func calls(id, name, args string) turn.Block {
	return turn.Block{Kind: turn.ToolUse, ID: id, Name: name, Args: json.RawMessage(args)}
}

func result(id, s string) turn.Block { return turn.Block{Kind: turn.ToolResult, ID: id, Text: s} }

func TestMessages(t *testing.T) {
	for _, c := range []struct {
		name string
		ms   []turn.Message
		want string
	}{
		{"none", nil, `[]`},
		{"texts are lines", []turn.Message{
			{Role: turn.System, Blocks: []turn.Block{says("a"), says("b\"\n\x00")}},
			{Role: turn.User, Blocks: []turn.Block{says("é\u2028"), {Kind: turn.Image}}},
		}, `[{"role":"system","content":"a\nb\"\n\u0000"},{"role":"user","content":"é\u2028\n[image]"}]`},
		{"an answer", []turn.Message{
			{Role: turn.Assistant, Blocks: []turn.Block{{Kind: turn.ThinkingBlock, Text: "hm"}, says("yes")}},
		}, `[{"role":"assistant","content":"yes","reasoning":"hm","reasoning_content":"hm"}]`},
		{"an empty answer", []turn.Message{{Role: turn.Assistant}}, `[{"role":"assistant","content":""}]`},
		{"calls keep their arguments, results take their order", []turn.Message{
			{Role: turn.Assistant, Blocks: []turn.Block{calls("a", "f", `{"z":1.0, "a":2}`), calls("b", "g", ``), calls("c", "h", `free`)}},
			{Role: turn.ToolRole, Blocks: []turn.Block{result("c", "3"), result("a", "1"), says("note"), result("b", "2")}},
		}, `[{"role":"assistant","content":null,"tool_calls":[` +
			`{"id":"a","type":"function","function":{"name":"f","arguments":"{\"z\":1.0, \"a\":2}"}},` +
			`{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}},` +
			`{"id":"c","type":"function","function":{"name":"h","arguments":"{\"input\":\"free\"}"}}]},` +
			`{"role":"tool","tool_call_id":"a","name":"f","content":"1\nnote"},` +
			`{"role":"tool","tool_call_id":"b","name":"g","content":"2"},` +
			`{"role":"tool","tool_call_id":"c","name":"h","content":"3"}]`},
		{"a result of nothing known", []turn.Message{
			{Role: turn.ToolRole, Blocks: []turn.Block{says("before"), result("x", "1")}},
		}, `[{"role":"user","content":"before"},{"role":"tool","tool_call_id":"x","content":"1"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := string(AppendMessages([]byte("b"), c.ms))
			if want := "b" + c.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if !json.Valid([]byte(got[1:])) {
				t.Error("this is no JSON")
			}
		})
	}
}

func TestTools(t *testing.T) {
	tools := []turn.Tool{
		{Name: "f", Description: "does", Schema: json.RawMessage(`{"type":"object", "properties":{"n":{"default":1.0}}}`), Strict: true},
		{Name: "later", Deferred: true},
		{Name: "g"},
		{Name: "h", Custom: true, Schema: json.RawMessage(`"grammar"`)},
	}
	want := `[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object", "properties":{"n":{"default":1.0}}}}},` +
		`{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}},` +
		`{"type":"function","function":{"name":"h","parameters":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}}]`
	if got := string(AppendTools(nil, tools)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !Shown(tools) || Shown(tools[1:2]) || Shown(nil) {
		t.Error("Shown is wrong about which tools are shown")
	}
}
