package engine_test

import (
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// TestAttachedKeepsConnections: turns at an attached engine go over the
// connection of the one before.
func TestAttachedKeepsConnections(t *testing.T) {
	port := freePort(t)
	ownSim(t, port)
	wire := newCable(t, port)
	r := newRig(t, engine.Options{})
	w, err := r.Attach(t.Context(), turn.Attach{URL: "http://" + wire.Addr(), Key: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	var before int
	for n := range 20 {
		if _, end, err := say(t, w, turn.Job{ID: "kept", Prompt: turn.IDsOf(1, 2, 3), MaxTokens: 2}); err != nil || end == nil {
			t.Fatal(end, err)
		}
		if n == 0 {
			before = wire.Came()
		}
	}
	if more := wire.Came() - before; more > 2 { // looks at its health may need one
		t.Errorf("%d more connections for 19 turns, want them over that of the first", more)
	}
}
