package engine

import (
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// Whether a launched worker sees images is the recipe's to say, for all kinds
// of engines, and no recipe gives an engine eyes.
func TestMergeVision(t *testing.T) {
	for _, c := range []struct {
		name         string
		recipe, seen bool
		want         bool
	}{
		{"nobody says so", false, false, false},
		{"the engine does and the recipe does not", false, true, false},
		{"the recipe and the engine", true, true, true},
		{"the recipe, of one that has no eyes", true, false, false},
	} {
		got := merge(turn.Capabilities{Vision: c.seen}, turn.Capabilities{}, c.recipe)
		if got.Vision != c.want {
			t.Errorf("%s: %v", c.name, got.Vision)
		}
	}
}

// What the engine tells goes over what its flags say.
func TestMerge(t *testing.T) {
	flags := turn.Capabilities{Context: 1, BlockSize: 2, KVTokens: 3, MaxSeqs: 4, MaxBatched: 5, Priority: true}
	if got := merge(turn.Capabilities{}, flags, false); got != flags {
		t.Errorf("one that tells nothing: %+v", got)
	}
	seen := turn.Capabilities{Context: 10, BlockSize: 20, KVTokens: 30, MaxSeqs: 40, MaxBatched: 50}
	want := seen
	want.Priority = true
	if got := merge(seen, flags, false); got != want {
		t.Errorf("one that tells all: %+v", got)
	}
}
