package server

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// TestBusyIsAskedAgain: a turn that one worker refused for load, and that waits
// for another, goes to the first when that has room sooner.
func TestBusyIsAskedAgain(t *testing.T) {
	one := caps(1000)
	one.MaxSeqs = 1
	refused := make(chan struct{}, 1)
	st := newStage(t, &puppet{name: "held", caps: one, play: func(ctx context.Context, _ turn.Job) (turn.Stream, error) {
		return &script{ctx: ctx}, nil
	}})
	go st.post(t.Context(), chatPath, says("hi", ""))
	st.until("the slot is taken", func() bool { return st.s.Snapshot().Queue.Prefill == 1 })
	st.s.Update(&puppet{name: "busy", caps: one, play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		select {
		case refused <- struct{}{}:
			return nil, fmt.Errorf("full: %w: %w", turn.ErrBusy, turn.ErrLost)
		default:
			return aWord(ctx, j)
		}
	}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if status, body := st.post(ctx, chatPath, says("ho", "")); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}
