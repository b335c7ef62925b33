package server

import "testing"

// TestHiddenIsCounted: an image that the model cannot see is counted, once a
// turn.
func TestHiddenIsCounted(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: aWord})
	a := ask(t, "POST", st.url+"/v1/messages", `{"model":"sim","max_tokens":4,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://x/y.png"}},{"type":"text","text":"what is it"}]}]}`)
	st.until("the turn has landed", func() bool { return len(st.aloft()) == 0 })
	if n := st.s.count.hidden.Load(); a.status != 200 || n != 1 {
		t.Errorf("%d, %d counted: %s", a.status, n, a.body)
	}
}
