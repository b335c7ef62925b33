package engine_test

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/vllm"
	"github.com/agentinfer/dyn/turn"
)

// forgetful launches engines that keep no event for later.
type forgetful struct{ vllm.Adapter }

func (a forgetful) Launch(s engine.Spec, at engine.Place) (engine.Launch, error) {
	l, err := a.Adapter.Launch(s, at)
	for i := range l.Args {
		l.Args[i] = strings.Replace(l.Args[i], `"replay_endpoint":"tcp://*:0",`, "", 1)
	}
	return l, err
}

// An engine that dyn starts connects to the one who listens for its events, and
// the first of them is seen in each of its lives: nothing is replayed here.
func TestFirstEvent(t *testing.T) {
	r := newRig(t, engine.Options{Adapters: []engine.Adapter{forgetful{}}})
	w := r.start(t, "")
	for life := range 2 {
		if life > 0 {
			if err := r.Restart(t.Context(), w.Name()); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "it is heard", func() bool { return w.Info().Caps.Events })
		if w.Info().Caps.Replay {
			t.Fatal("it replays")
		}
		before := r.seen(w.Name(), turn.KVStored)
		if _, _, err := say(t, w, job(1000*life, 100)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the prompt's blocks", func() bool { return r.seen(w.Name(), turn.KVStored) > before })
		if got := r.seen(w.Name(), turn.KVRestart); got != 1+2*life { // at the end of a life, and as it begins
			t.Errorf("life %d: forgot %d times", life, got)
		}
	}
}
