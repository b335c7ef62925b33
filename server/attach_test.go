package server

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// patient is a fleet whose engines never give a token.
type patient struct {
	Fleet
	asked, left chan struct{}
}

func (p patient) Attach(ctx context.Context, _ turn.Attach) (turn.WorkerInfo, error) {
	close(p.asked)
	<-ctx.Done()
	close(p.left)
	return turn.WorkerInfo{}, context.Cause(ctx)
}

// TestAttachIsInterrupted: who does not wait any more for an engine's first
// token ends the attaching.
func TestAttachIsInterrupted(t *testing.T) {
	st := newStage(t)
	p := patient{asked: make(chan struct{}), left: make(chan struct{})}
	st.s.o.Fleet = p
	ctx, hangUp := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", st.control()+"/workers", strings.NewReader(`{"url":"http://127.0.0.1:9"}`))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	<-p.asked
	hangUp()
	<-p.left
}
