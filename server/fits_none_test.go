package server

import (
	"testing"
)

// TestFitsNoWorker: a prompt that is within the context and over every KV cache
// is the client's fault, not a failure of ours.
func TestFitsNoWorker(t *testing.T) {
	c := caps(5000)
	c.KVTokens = 100
	st := newStage(t, &puppet{name: "w0", caps: c, play: aWord})
	status, body := st.post(t.Context(), chatPath, says(words(100), ""))
	if failed := st.s.count.failed.Load(); status != 400 || failed != 0 {
		t.Errorf("%d %s, %d counted as failed", status, body, failed)
	}
}
