package server

import "testing"

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
