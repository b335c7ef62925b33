package advise_test

import (
	"slices"
	"testing"

	"github.com/agentinfer/dyn/engine/advise"
)

func TestUnrecognized(t *testing.T) {
	for line, want := range map[string][]string{
		"serve: error: unrecognized arguments: --a 1 --b=2 x": {"a", "b"},
		"unrecognized arguments: x y":                         nil,
		"all is well":                                         nil,
	} {
		if got := advise.Unrecognized([]string{"usage: …", line, "bye"}); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	a := advise.Unknown("engine", []string{"a", "mine"}, []string{"mine", "other"})
	if !slices.Equal(a.Without, []string{"mine"}) || a.Try != `this engine does not know --a, --mine: take it out of the recipe's flags (a: "false"), or take a newer one` {
		t.Errorf("%+v", a)
	}
	if a := advise.Unknown("engine", nil, nil); a.Try != "" || a.Without != nil {
		t.Errorf("%+v", a)
	}
}

func TestCauses(t *testing.T) {
	all := []advise.Cause{{"one", "do 1"}, {"two", "do 2"}}
	for line, want := range map[string]string{"it is two": "do 2", "one and two": "do 1", "three": ""} {
		if got := advise.Causes([]string{line}, all); got.Try != want {
			t.Errorf("%q: %q, want %q", line, got.Try, want)
		}
	}
}
