package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

func TestArgs(t *testing.T) {
	for text, want := range map[string]string{
		"": `{}`, " \n": `{}`, `{"a": 1}`: `{"a": 1}`, ` {"a":1}` + "\n": `{"a":1}`,
		`{oops`: `"{oops"`, `[1]`: `[1]`, "x\ny": `"x\ny"`,
	} {
		if got := string(Args(text)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestComplete(t *testing.T) {
	for text, want := range map[string]string{
		``: `{}`, `{`: `{}`, `{"a`: `{}`, `{"a"`: `{}`, `{"a":`: `{}`,
		`{"a":1`: `{}`, `{"a":1,`: `{"a":1}`, `{"a":tru`: `{}`, `{"a":true, `: `{"a":true}`,
		`{"a":"x`: `{"a":"x"}`, `{"a":"x\`: `{"a":"x"}`, `{"a":"x\u00`: `{"a":"x"}`, `{"a":"x\n`: `{"a":"x\n"}`,
		`{"a":"x","b`:               `{"a":"x"}`,
		`{"a":[1,{"b":"c`:           `{"a":[1,{"b":"c"}]}`,
		`{"a":[1,2`:                 `{"a":[1]}`,
		`{"a":[[],[`:                `{"a":[[],[]]}`,
		`{"a":{"b":{}},"c":{"d": -`: `{"a":{"b":{}},"c":{}}`,
		`{"a":"b"}`:                 `{"a":"b"}`,
		`not json`:                  `{"input":"not json"}`,
		`}{`:                        `{"input":"}{"}`,
		`["a`:                       `{"input":"[\"a"}`,
	} {
		if got := string(argsObject(text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestCompleteAnywhere cuts an object at every byte.
func TestCompleteAnywhere(t *testing.T) {
	const whole = `{"path": "a/é\u00e9\\b\"", "n": [-1.5e3, null, {"x": {}, "y": []}], "t": true}`
	for i := range len(whole) {
		text := strings.ToValidUTF8(whole[:i], "")
		got := argsObject(text)
		if !json.Valid(got) || strings.Contains(string(got), `"input"`) {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

func FuzzComplete(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"c`, `{"a":"\ud83d`, `[[{`, `{"a":}`, "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := argsObject(strings.ToValidUTF8(text, "?")); !tape.Valid(got) || got[0] != '{' {
			t.Errorf("%q: got %s", text, got)
		}
		inputText(text)
		if !json.Valid(Args(text)) {
			t.Errorf("%q: arguments %s", text, Args(text))
		}
	})
}

// TestAnswerMessage has an answer equal what the decoders make of its replay.
func TestAnswerMessage(t *testing.T) {
	var a Answer
	for _, e := range join(think("hm"), says("one "), says("two"), calls(0, "ls", `{"p":`, ` 1}`), calls(1, "now"), calls(2, "cut", `{"a`), done(turn.Called)) {
		a.Add(e)
	}
	replay := decoded(t, turn.Chat, `{"model":"m","messages":[{"role":"assistant","content":"one two","reasoning_content":"hm","tool_calls":[
		{"id":"id0","function":{"name":"ls","arguments":"{\"p\": 1}"}},{"id":"id1","function":{"name":"now","arguments":"{}"}},{"id":"id2","function":{"name":"cut","arguments":"{\"a"}}]}]}`)
	if got, want := sketch([]turn.Message{a.Message()}), sketch(replay.Messages); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
