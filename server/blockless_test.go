package server

import (
	"testing"
)

// TestBlockless: a worker that no longer tells its block size goes on with the
// one it had, and nothing divides by it.
func TestBlockless(t *testing.T) {
	w := &puppet{name: "w0", caps: caps(1000), play: aWord}
	st := newStage(t, w)
	for range 2 {
		if status, body := st.post(t.Context(), chatPath, says("hi", "")); status != 200 {
			t.Errorf("%d %s", status, body)
		}
		w.mu.Lock()
		w.caps.BlockSize = 0
		w.mu.Unlock()
		st.s.Update(w)
	}
}
