package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// TestShutdownLandsAll: when Shutdown has returned, no turn is on its way,
// and each client has an end: an event or a status.
func TestShutdownLandsAll(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: func(ctx context.Context, _ turn.Job) (turn.Stream, error) {
		return &script{ctx, []turn.Delta{{Text: " word", IDs: []uint32{300}}}}, nil
	}})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			status, body := st.post(context.Background(), "/v1/messages", fmt.Sprintf(`{"model":"sim","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"%d"}]}`, i))
			if status != 503 && !strings.Contains(body, "event: error") {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	st.until("all are on their way", func() bool {
		n := 0
		st.s.aloft.Range(func(any, any) bool { n++; return true })
		return n == 50 && st.s.Snapshot().Queue.Prefill == 0
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	st.s.Shutdown(ctx)
	st.s.aloft.Range(func(id, _ any) bool { t.Errorf("%s is on its way", id); return true })
	wg.Wait()
}
