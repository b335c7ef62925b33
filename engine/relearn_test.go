package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// What an engine held before it was attached, and does not replay, is learned
// from the turns that use it.
func TestRelearnsWhatTurnsUse(t *testing.T) {
	port := freePort(t)
	ownSim(t, port, "--kv-events-config", `{"enable_kv_cache_events":true,"endpoint":"tcp://*:0"}`)
	at := turn.Attach{URL: fmt.Sprintf("http://127.0.0.1:%d", port), Key: "secret"}
	attach := func() (*rig, *engine.Worker) {
		r := newRig(t, engine.Options{})
		w, err := r.Attach(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	}
	prefix := func(r *rig, w *engine.Worker) bool { // the prompt's six blocks, from the first
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.ContainsFunc(r.kv[w.Name()], func(e turn.KVEvent) bool {
			return e.Kind == turn.KVStored && !e.HasParent && len(e.Hashes) >= 6
		})
	}
	speak := func(w *engine.Worker) {
		if _, _, err := say(t, w, job(0, 110)); err != nil {
			t.Fatal(err)
		}
	}
	_, w := attach()
	speak(w) // now the engine holds them, and says no more of them by itself

	r, w := attach()
	eventually(t, "it is seen that something was missed", func() bool {
		speak(w)
		return r.seen(w.Name(), turn.KVRestart) == 2
	})
	eventually(t, "it is told again", func() bool {
		speak(w)
		return prefix(r, w)
	})
}
