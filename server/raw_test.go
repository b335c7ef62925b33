package server

import (
	"slices"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestRawTurnsPinNoPrompt: a raw turn is kept for a day, the ids of the prompt
// that it answered are not to stay in memory with it.
func TestRawTurnsPinNoPrompt(t *testing.T) {
	ids := make([]uint32, 1000)
	f := &flight{t: &turn.Turn{}, lead: ids[990:]}
	raw := f.raw(1, turn.Message{}, []uint32{5})
	ids[995] = 7
	if !slices.Equal(raw.Opening, make([]uint32, 10)) || cap(raw.Opening) > 64 {
		t.Errorf("the opening %v is a part of the prompt's ids", raw.Opening)
	}
}
