package engine

import (
	"errors"
	"testing"

	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/turn"
)

func TestRemoteCodeIsTheRecipesToTrust(t *testing.T) {
	for _, c := range []struct {
		name   string
		recipe recipes.Recipe
		flags  map[string]string
		want   string
	}{
		{"nobody asks", recipes.Recipe{}, nil, ""},
		{"a flag asks", recipes.Recipe{}, map[string]string{"trust-remote-code": "true"}, ""},
		{"a flag of the recipe asks", recipes.Recipe{Flags: map[string]string{"trust-remote-code": "true"}}, nil, ""},
		{"in another spelling", recipes.Recipe{Flags: map[string]string{"trust_remote_code": "true", "trust-remote": "true"}}, nil, ""},
		{"the recipe trusts", recipes.Recipe{TrustRemoteCode: true}, nil, "true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Spec{Recipe: &c.recipe, Flags: c.flags}
			got := s.Settings(Place{}, nil)
			if got["trust-remote-code"] != c.want || len(got) > 1 || c.want == "" && len(got) > 0 {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestNoProgram: a recipe that leaves the program open is not started without
// one, and it is said how to get it.
func TestNoProgram(t *testing.T) {
	f := NewFleet(Options{Logs: t.TempDir(), Adapters: []Adapter{&broken{}}})
	defer f.Stop(t.Context(), 0)
	_, err := f.Start(t.Context(), Spec{Recipe: &recipes.Recipe{Engine: "broken", Command: []string{"{engine}"}}})
	var fault *turn.Fault
	if !errors.As(err, &fault) || fault.Try != "dyn engine install broken" {
		t.Fatalf("%v, %+v", err, fault)
	}
}
