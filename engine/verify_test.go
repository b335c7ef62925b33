package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// TestVerified: each life of a worker is looked at before it is ready, and
// what was found is told.
func TestVerified(t *testing.T) {
	var lives atomic.Int32
	r := newRig(t, engine.Options{Verify: func(_ context.Context, i turn.WorkerInfo, c engine.Client) string {
		if i.State != turn.Starting || i.Caps.Model != "sim" || c == nil {
			t.Errorf("looked at %+v", i)
		}
		return fmt.Sprintf("life %d differs", lives.Add(1))
	}})
	w := r.start(t, "")
	if got := w.Info(); got.Chat != "life 1 differs" || got.State != turn.Ready {
		t.Errorf("%+v", got)
	}
	if err := r.Restart(t.Context(), "w0"); err != nil {
		t.Fatal(err)
	}
	if got := w.Info(); got.Chat != "life 2 differs" {
		t.Errorf("%+v", got)
	}
}

// TestBlind: where the recipe promises that images are seen and the engine does
// not see them, that is told before the worker is ready.
func TestBlind(t *testing.T) {
	for _, sees := range []bool{false, true} {
		r := newRig(t, engine.Options{})
		sharp := recipe("sim")
		sharp.Vision, sharp.Flags["vision"] = true, fmt.Sprint(sees)
		w, err := r.Start(t.Context(), engine.Spec{Recipe: sharp})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(r.told(), "w0 blind"); got == sees || w.Info().Caps.Vision != sees {
			t.Errorf("it sees %v: told %v, capabilities %+v", sees, r.told(), w.Info().Caps)
		}
	}
}
