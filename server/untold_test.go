package server

import (
	"testing"
)

// TestUntoldIsNoMiss: an engine that tells no cached tokens adds nothing to
// what is counted of them, and makes no hit ratio.
func TestUntoldIsNoMiss(t *testing.T) {
	c := caps(1000)
	c.Cached = false
	st := newStage(t, &puppet{name: "w0", caps: c, play: aWord})
	for range 3 {
		st.post(t.Context(), chatPath, says("hi", ""))
	}
	if p := st.s.Snapshot().Totals; p.Turns != 3 || p.Cached != 0 || p.Hit != nil {
		t.Errorf("%d turns, %d cached, hit %v; want 3, 0 and none", p.Turns, p.Cached, p.Hit)
	}
}
