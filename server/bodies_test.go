package server

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/agentinfer/dyn/server/dialect"
)

// TestTurnsKeepNothingOfTheirBodies: the memory of a body is used again as soon
// as its turn is read, so nothing of a turn, or of what is remembered for the
// next one, may be a part of it.
func TestTurnsKeepNothingOfTheirBodies(t *testing.T) {
	if n := keepNothing(t, plainAsks()); n != 12 {
		t.Errorf("%d turns were read, want 12", n)
	}
	keepNothing(t, replays(t, true))
}

// keepNothing reads turns whose bodies are then written over, and returns how
// many.
func keepNothing(t *testing.T, asks []replayed) (read int) {
	t.Helper()
	rc := dialect.NewRecall(recallBytes)
	for _, q := range asks {
		es := newRouting(table()).find(q.path)
		if len(es) == 0 || es[0].dialect == "" || q.method != "POST" {
			continue
		}
		codec := codecOf(es[0].dialect)
		for range 3 { // the first is remembered, the second is known, the third shows that it still is right
			want, err := codec.Decode(q.body, nil, nil)
			if err != nil {
				continue
			}
			lent := bytes.Clone(q.body)
			got, err := codec.Decode(lent, nil, rc)
			for i := range lent {
				lent[i] = 'x'
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: %v, not the same once its body is gone", q.name, err)
			}
			read++
		}
	}
	return read
}

// plainAsks are short turns in each API, with tools and answers in them.
func plainAsks() []replayed {
	return []replayed{
		{name: "messages", method: "POST", path: "/v1/messages", body: []byte(`{"model":"sim","max_tokens":9,"system":"s\u00e9","tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"h\ni"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"x":[1]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"image","source":{"data":"abc"}}]}],"nvext":{"weather":1}}`)},
		{name: "chat", method: "POST", path: chatPath, body: []byte(`{"model":"sim","tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"stop":["a","b"],"logit_bias":{"5":1},"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"ok"}]}`)},
		{name: "responses", method: "POST", path: "/v1/responses", body: []byte(`{"model":"sim","instructions":"i","metadata":{"a":"b"},"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}},"input":[{"role":"user","content":"hi"}]}`)},
		{name: "completions", method: "POST", path: "/v1/completions", body: []byte(`{"model":"sim","prompt":["text",[300]],"stop":"x"}`)},
	}
}
