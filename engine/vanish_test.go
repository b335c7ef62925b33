package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/internal/cable"
	"github.com/agentinfer/dyn/turn"
)

// newCable lies in front of a port of this machine.
func newCable(t *testing.T, port int) *cable.Cable {
	t.Helper()
	c, err := cable.New(fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestHostVanishes: turns on a host that falls silent end as lost to it, in
// mid-stream and before they began; the worker is shown as down and comes back
// by itself. The engine wants a key, with and without KV events.
func TestHostVanishes(t *testing.T) {
	for _, c := range []struct {
		name   string
		events bool
		flags  []string
	}{
		{"with events", true, nil},
		{"without", false, []string{"--kv-events-config", `{"enable_kv_cache_events":false}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			port := freePort(t)
			brain := filepath.Join(t.TempDir(), "brain.yaml")
			if err := os.WriteFile(brain, []byte("rules:\n  - say: \"one two three four five six seven eight\"\n    fault: stall\n    after: 3\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			ownSim(t, port, append(c.flags, "--brain", brain)...)
			wire := newCable(t, port)
			r := newRig(t, engine.Options{DrainStall: 50 * time.Millisecond})
			w, err := r.Attach(t.Context(), turn.Attach{URL: "http://" + wire.Addr(), Key: "secret"})
			if err != nil {
				t.Fatal(err)
			}
			if got := w.Info().Caps.Events; got != c.events {
				t.Errorf("events arrive: %v", got)
			}
			s, err := w.Generate(t.Context(), job(0, 100))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
			wire.Pull()
			ends := make(chan error, 2)
			go func() { ends <- drainStream(s) }()
			go func() {
				s, err := w.Generate(context.Background(), job(0, 100))
				if err == nil {
					err = drainStream(s)
				}
				ends <- err
			}()
			for range 2 {
				select {
				case err := <-ends:
					if !errors.Is(err, turn.ErrLost) {
						t.Errorf("a turn ended with %v, want a lost worker", err)
					}
				case <-time.After(time.Minute):
					t.Fatal("a turn hangs for ever")
				}
			}
			if i := w.Info(); i.State != turn.Down || i.Why == "" {
				t.Errorf("it is %s: %s", i.State, i.Why)
			}
			wire.Plug()
			wire.Cut() // what the other side finds when it comes back
			eventually(t, "it is back", func() bool { return w.Info().State == turn.Ready })
			if got := r.told(); !slices.Equal(got[len(got)-2:], []string{"a0 down", "a0 ready"}) {
				t.Errorf("told %v", got)
			}
		})
	}
}

// drainStream reads a stream to its end.
func drainStream(s turn.Stream) error {
	defer s.Close()
	for {
		if d, err := s.Next(); err != nil || d.End != nil {
			return err
		}
	}
}
