package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// A turn waits for the only worker while that is known to be back in a moment;
// else it is told so at once, with when to try again.
func TestWaitsForAWorkerThatComesBack(t *testing.T) {
	p := &puppet{name: "w0", caps: caps(5000), play: aWord}
	st := newStage(t, p)
	becomes := func(now turn.State, back time.Duration) {
		t.Helper()
		p.mu.Lock()
		p.now, p.back = now, time.Time{}
		if back != 0 {
			p.back = time.Now().Add(back)
		}
		p.mu.Unlock()
		if err := st.s.Update(p); err != nil {
			t.Fatal(err)
		}
	}
	waiting := func(n int) {
		t.Helper()
		st.until("the turns wait", func() bool { return st.s.Snapshot().Queue.Waiting == n })
	}
	type answer struct {
		status int
		body   string
	}
	ask := func(ctx context.Context) chan answer {
		into := make(chan answer, 1)
		go func() {
			status, body := st.post(ctx, chatPath, says("hi", ""))
			into <- answer{status, body}
		}()
		return into
	}

	becomes(turn.Starting, backMost)
	first, second := ask(t.Context()), ask(t.Context())
	waiting(2)
	becomes(turn.Ready, 0)
	for _, a := range []answer{<-first, <-second} {
		if a.status != 200 {
			t.Errorf("back: %d %s", a.status, a.body)
		}
	}

	becomes(turn.Down, backMost)
	ctx, cancel := context.WithCancel(t.Context())
	gone := ask(ctx)
	waiting(1)
	cancel()
	<-gone
	waiting(0)

	late := ask(t.Context())
	waiting(1)
	becomes(turn.Down, 0) // it was given up
	if a := <-late; a.status != 503 {
		t.Errorf("it does not come: %d %s", a.status, a.body)
	}
	for _, c := range []struct{ back, least, most time.Duration }{
		{0, retryAfter, retryAfter}, {-backLate, retryAfter, retryAfter}, {time.Hour, 59 * time.Minute, time.Hour},
	} {
		becomes(turn.Starting, c.back)
		req, _ := http.NewRequestWithContext(t.Context(), "POST", st.url+chatPath, strings.NewReader(says("hi", "")))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		if d := time.Duration(after) * time.Second; resp.StatusCode != 503 || d < c.least || d > c.most {
			t.Errorf("back in %v: %d, to try again after %v", c.back, resp.StatusCode, d)
		}
	}
}
