package engine

import (
	"testing"

	"github.com/agentinfer/dyn/recipes"
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
		{"the recipe trusts", recipes.Recipe{TrustRemoteCode: true}, nil, "true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Spec{Recipe: &c.recipe, Flags: c.flags}
			if got := s.Settings(Place{}, nil)["trust-remote-code"]; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
