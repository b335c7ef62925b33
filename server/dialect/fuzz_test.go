package dialect

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/agentinfer/dyn/turn"
)

// FuzzDecode has any body give a turn that later rooms can rely on, or a
// problem that can be told. Recorded bodies are seeds where they are at hand.
func FuzzDecode(f *testing.F) {
	seeds := []string{
		`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"tool_reference","tool_name":"x"}]}]}],"tools":[{"name":"x","defer_loading":true}]}`,
		`{"model":"m","input":[{"type":"reasoning","summary":[{"text":"x"}]},{"type":"function_call","call_id":"c","name":"n","arguments":"{"}],"tools":[{"type":"namespace","name":"n","tools":[{"type":"custom","name":"c"}]}]}`,
		`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"x"}}]},{"role":"tool","tool_call_id":"c","content":"r"}],"nvext":{"cache_control":{"ttl":"5m"}}}`,
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	if all, err := loadRecordings(fixturesDir()); err == nil {
		for i := range all {
			f.Add(all[i].body)
		}
		m := newMutator(2, all)
		for range min(len(all), 200) {
			_, body := m.next()
			f.Add(body)
		}
	}
	rc := NewRecall(1 << 20)
	f.Fuzz(func(t *testing.T, body []byte) {
		for d := range clients {
			c := For(d)
			got, err := c.Decode(body, nil, nil)
			if err == nil {
				sound(t, got)
			} else if told(t, c, err); got != nil {
				t.Fatalf("%s: a turn and %v", d, err)
			}
			if again, err2 := c.Decode(body, nil, rc); !reflect.DeepEqual(again, got) || !reflect.DeepEqual(err, err2) {
				t.Fatalf("%s: with a Recall %v, without %v", d, err2, err)
			}
		}
		_, _ = DecodeCount(body, nil)
		_, _ = DecodeInput(body, nil)
	})
}

// sound checks what a decoded turn promises.
func sound(t *testing.T, got *turn.Turn) {
	t.Helper()
	if got.Model == "" || len(got.Messages) == 0 || got.MaxTokens < 0 {
		t.Fatalf("turn %+v", got)
	}
	if got.Echo != nil && !json.Valid(got.Echo) {
		t.Fatalf("echo %s", got.Echo)
	}
	names := map[string]bool{}
	for _, tool := range got.Tools {
		if tool.Name == "" || tool.Bare == "" || names[tool.Name] || tool.Schema != nil && !json.Valid(tool.Schema) {
			t.Fatalf("tool %+v", tool)
		}
		names[tool.Name] = true
	}
	for _, m := range got.Messages {
		for _, b := range m.Blocks {
			if !utf8.ValidString(b.Text) || b.Lease < 0 {
				t.Fatalf("block %+v", b)
			}
			if b.Kind == turn.ToolUse && (b.Name == "" || !json.Valid(b.Args)) {
				t.Fatalf("call %+v", b)
			}
			if b.Kind >= turn.Image && !json.Valid(b.Raw) {
				t.Fatalf("raw %s", b.Raw)
			}
		}
	}
}
