package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// A server that does not know a flag of ours is launched without it.
func TestOldServer(t *testing.T) {
	r := newRig(t, engine.Options{})
	w, err := r.Start(t.Context(), engine.Spec{Recipe: recipe("old")})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.told(); !slices.Equal(got, []string{"w0 starting", "w0 starting", "w0 ready"}) {
		t.Errorf("told %v", got)
	}
	if _, _, err := say(t, w, job(1, 40)); err != nil {
		t.Error(err)
	}
	if err := r.Restart(t.Context(), w.Name()); err != nil {
		t.Fatal(err)
	}
	if n := len(slices.DeleteFunc(r.told(), func(e string) bool { return e != "w0 starting" })); n != 3 {
		t.Errorf("started %d times: it forgot what the server does not know", n)
	}
}

// A flag that a person set is a person's to take away.
func TestOldServerAsked(t *testing.T) {
	r := newRig(t, engine.Options{})
	_, err := r.Start(t.Context(), engine.Spec{Recipe: recipe("old"), Flags: map[string]string{"generation-config": "auto"}})
	var f *turn.Fault
	if !errors.As(err, &f) || !strings.Contains(f.Try, "--generation-config") || !strings.Contains(f.Why, "unrecognized arguments") {
		t.Errorf("error is %+v", f)
	}
	if got := r.told(); slices.Contains(got[1:], "w0 starting") {
		t.Errorf("told %v", got)
	}
}

// What was left out does not make it another engine: the next daemon, which
// does not know of it, adopts it.
func TestOldServerIsAdopted(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, engine.Options{Run: dir})
	w, err := r.Start(t.Context(), engine.Spec{Name: "w0", Recipe: real("old")})
	if err != nil {
		t.Fatal(err)
	}
	next := newRig(t, engine.Options{Run: dir})
	again, err := next.Start(t.Context(), engine.Spec{Name: "w0", Recipe: real("old")})
	if err != nil {
		t.Fatal(err)
	}
	if again.Info().PID != w.Info().PID || !again.Info().Adopted {
		t.Errorf("%+v, want the engine %d", again.Info(), w.Info().PID)
	}
}
