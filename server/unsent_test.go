package server

import (
	"context"
	"fmt"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestUnsentGoesOn: workers that cannot be reached do not use up a turn's
// moves, since the turn is not why.
func TestUnsentGoesOn(t *testing.T) {
	var ps []*puppet
	for i := range 6 {
		ps = append(ps, &puppet{name: fmt.Sprint("w", i), caps: caps(1000), play: func(context.Context, turn.Job) (turn.Stream, error) {
			return nil, fmt.Errorf("%w: %w", turn.ErrUnsent, turn.ErrLost)
		}})
	}
	ps[5].play = aWord
	st := newStage(t, ps...)
	for i := range 10 {
		if status, body := st.post(t.Context(), chatPath, says(fmt.Sprint("hi ", i), "")); status != 200 {
			t.Errorf("%d %s", status, body)
		}
	}
	if n := st.s.count.moved.Load(); n != 0 {
		t.Errorf("%d moves of turns that were nowhere", n)
	}
}
