package server

import (
	"context"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// TestPassesBy: a turn that waits for the only worker that can take it does
// not hold up those that a free one can take.
func TestPassesBy(t *testing.T) {
	large := caps(5000)
	large.MaxSeqs = 1
	st := newStage(t, &puppet{name: "small", caps: caps(100), play: aWord},
		&puppet{name: "large", caps: large, play: func(ctx context.Context, _ turn.Job) (turn.Stream, error) {
			return &script{ctx: ctx}, nil
		}})
	for range 2 {
		go st.post(t.Context(), chatPath, says(words(100), ""))
	}
	st.until("one runs and one waits", func() bool {
		q := st.s.Snapshot().Queue
		return q.Prefill == 1 && q.Waiting == 1
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if status, body := st.post(ctx, chatPath, says("hi", "")); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if n := st.s.Snapshot().Queue.Waiting; n != 1 {
		t.Errorf("%d wait, want 1", n)
	}
}
