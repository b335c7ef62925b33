package server

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// TestStuckGetsNoTurns: a worker that takes turns and of which nothing comes
// gets no more of them, not even those of sessions whose blocks it has, and
// decision and picture say why. With the first sign it has them again.
func TestStuckGetsNoTurns(t *testing.T) {
	release := make(chan struct{})
	var hung atomic.Bool
	w := &puppet{name: "hung", caps: caps(4000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		if hung.Load() {
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return aWord(ctx, j)
	}}
	st := newStage(t, w)
	say := func(n int) {
		t.Helper()
		if status, body := st.post(t.Context(), chatPath, plea(1, n), "x-session-id", "s"); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	say(0) // the session is at home there
	hung.Store(true)
	var over sync.WaitGroup
	over.Go(func() { st.post(t.Context(), chatPath, plea(2, 0), "x-session-id", "other") })
	st.until("it has a turn", func() bool { return st.s.Snapshot().Queue.Prefill == 1 })
	quiet := func(d time.Duration) {
		w.mu.Lock()
		w.load.Quiet = d
		w.mu.Unlock()
		st.s.all()[0].feel()
	}
	quiet(stuckAfter)
	st.s.Update(&puppet{name: "works", caps: caps(4000), play: aWord})
	for n := range 8 {
		say(min(n, 1))
	}
	if why := st.s.draw(st.s.started).Workers[0].Why; !strings.Contains(why, "nothing has come for 10s") {
		t.Errorf("why: %q", why)
	}
	st.s.Remove("works")
	release <- struct{}{}
	over.Wait()
	hung.Store(false)
	quiet(0)
	say(1)
	for i, row := range (&rig{t: t, path: st.path}).rows(11) {
		want := "works"
		if i < 2 || i == 10 {
			want = "hung"
		}
		if row.Worker != want || !explained(t, row) || strings.Contains(row.Decision, "nothing has come for") != (want == "works") {
			t.Errorf("turn %d: %s by %s, want %s", i, row.Worker, row.Decision, want)
		}
	}
}

// TestHungIsLeft: an engine that takes turns and gives nothing, its health
// being well, loses them: they end elsewhere, whole, and when it works again it
// has turns again.
func TestHungIsLeft(t *testing.T) {
	r := newRig(t, 0)
	r.fleet = engine.NewFleet(engine.Options{
		Logs: t.TempDir(), Adapters: r.adapters(), Poll: 20 * time.Millisecond, Hang: 300 * time.Millisecond, HangProbe: 300 * time.Millisecond,
		OnChange: func(w *engine.Worker) { r.s.Update(w) }, OnKV: r.s.KV,
	})
	r.start(0)
	at, shut := hangs(t, r.sims[0])
	if err := r.fleet.Detach(t.Context(), r.fleet.Workers()[0].Name()); err != nil {
		t.Fatal(err)
	}
	hung, err := r.fleet.Attach(t.Context(), turn.Attach{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	say := func(n int) {
		t.Helper()
		if status, body := r.post(chatPath, plea(1, n), "x-session-id", "s"); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	say(0)
	r.start(1)
	works := r.fleet.Workers()[1].Name()
	open := shut()
	say(1)
	if row := r.rows(2)[1]; row.Worker != works || row.Moved != 1 || row.Outcome == "fail" || !explained(t, row) {
		t.Errorf("it went to %s, moved %d times, %s %s, by %s", row.Worker, row.Moved, row.Outcome, row.Error, row.Decision)
	}
	ready := func() bool { return hung.Info().State == turn.Ready }
	r.until("it is not ready", func() bool { return !ready() })
	say(1)
	if row := r.rows(3)[2]; row.Worker != works || row.Moved != 0 || !strings.Contains(row.Decision, `"left_out":"down"`) {
		t.Errorf("while it is down a turn went to %s, by %s", row.Worker, row.Decision)
	}
	open()
	r.until("it is ready again", ready)
	if err := r.fleet.Detach(t.Context(), works); err != nil {
		t.Fatal(err)
	}
	say(1)
	if row := r.rows(4)[3]; row.Worker != hung.Name() || !explained(t, row) {
		t.Errorf("after that a turn went to %s, by %s", row.Worker, row.Decision)
	}
}

// hangs stands before an engine. From shut to the call of open the engine takes
// turns and gives nothing; all else about it is well.
func hangs(t *testing.T, engine string) (at string, shut func() (open func())) {
	t.Helper()
	to, err := url.Parse(engine)
	if err != nil {
		t.Fatal(err)
	}
	var gate atomic.Pointer[chan struct{}]
	pass := httputil.NewSingleHostReverseProxy(to)
	pass.FlushInterval = -1
	pass.ErrorLog = log.New(io.Discard, "", 0)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g := gate.Load(); g != nil && r.Method == http.MethodPost {
			<-*g
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL, func() func() {
		g := make(chan struct{})
		gate.Store(&g)
		open := sync.OnceFunc(func() {
			gate.Store(nil)
			close(g)
		})
		t.Cleanup(open) // before front is closed
		return open
	}
}
