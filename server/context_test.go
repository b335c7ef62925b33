package server

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestContextsDiffer: no worker is asked for more tokens than its own context
// has room for, whatever others of the model take.
func TestContextsDiffer(t *testing.T) {
	var mu sync.Mutex
	most := map[int]int{} // by context, prompt and answer asked for
	worker := func(n int) *puppet {
		return &puppet{name: fmt.Sprint("w", n), caps: caps(n), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
			mu.Lock()
			defer mu.Unlock()
			most[n] = max(most[n], j.Prompt.Len()+j.MaxTokens)
			return aWord(ctx, j)
		}}
	}
	st := newStage(t, worker(1000), worker(5000))
	for i := 0; i < 100 && len(most) < 2; i++ {
		st.post(t.Context(), chatPath, says(fmt.Sprint("hi ", i), ""))
	}
	for n, asked := range most {
		if asked != n {
			t.Errorf("a worker with a context of %d was asked for %d", n, asked)
		}
	}
}

// TestContextUntold: an engine that does not tell its context serves turns of
// the model's.
func TestContextUntold(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(0), play: aWord})
	if status, body := st.post(t.Context(), chatPath, says("hi", "")); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if n := st.s.Snapshot().Models[0].Context; n == 0 {
		t.Error("the model's context is shown as 0")
	}
}
