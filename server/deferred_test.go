package server

import (
	"strings"
	"testing"
)

// TestDeferredMayBeNamed: a tool choice may name a tool that is deferred, so
// the turn is served.
func TestDeferredMayBeNamed(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: aWord})
	status, body := st.post(t.Context(), "/v1/messages", `{"model":"sim","max_tokens":50,"tool_choice":{"type":"tool","name":"late"},`+
		`"tools":[{"name":"Read","input_schema":{"type":"object"}},{"name":"late","defer_loading":true,"input_schema":{"type":"object"}}],`+
		`"messages":[{"role":"user","content":"hi"}]}`)
	if status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

// TestNoToolsNoCalls: without tools what looks like a call is the answer.
func TestNoToolsNoCalls(t *testing.T) {
	r := newRig(t, 1, brainFile(t, toolBrain))
	status, body := r.post("/v1/chat/completions", `{"model":"sim","max_tokens":99,"messages":[{"role":"user","content":"read the file"}]}`)
	choice := dig(doc(t, body), "choices", 0)
	if status != 200 || !strings.Contains(str(dig(choice, "message", "content")), `{"name": "Read"`) || dig(choice, "message", "tool_calls") != nil || str(dig(choice, "finish_reason")) != "stop" {
		t.Errorf("%d %s", status, body)
	}
}
