package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agentinfer/dyn/engine/port"
	"github.com/agentinfer/dyn/engine/sim"
	"github.com/agentinfer/dyn/internal/cable"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/turn"
)

// explained reports whether a row says why its turn went where it did.
func explained(t *testing.T, row ledger.Turn) bool {
	t.Helper()
	var d route.Decision
	if err := json.Unmarshal([]byte(row.Decision), &d); err != nil {
		t.Errorf("turn %s: %v in %q", row.ID, err, row.Decision)
		return false
	}
	for _, p := range d.Parts {
		if p.Worker == row.Worker {
			return p.Out == "" && d.Worker == row.Worker && d.Reason != ""
		}
	}
	return false
}

// plea is a turn of one user's words, and of an answer before where there is one.
func plea(session, turn int) string {
	text := fmt.Sprintf(`{"role":"user","content":"session %d %s"}`, session, strings.Repeat("some words ", 40))
	if turn > 0 {
		text += `,{"role":"assistant","content":"yes"},{"role":"user","content":"go on"}`
	}
	return `{"model":"sim","max_tokens":8,"messages":[` + text + `]}`
}

// TestCrowdOverCapacity: 128 sessions at once whose contexts are several times
// what the engines can hold, and an engine that goes away in their midst:
// every turn is answered, every decision is explained, and the index holds no
// more than engines can.
func TestCrowdOverCapacity(t *testing.T) {
	const sessions, turns, tokens = 128, 2, 4096
	flags := []string{"--max-num-seqs=8", "--kv-tokens", strconv.Itoa(tokens)}
	r := newRig(t, 3, flags...)
	var over sync.WaitGroup
	var answered atomic.Int64
	for i := range sessions {
		over.Go(func() {
			for n := range turns {
				status, body := r.post(chatPath, plea(i, n), "x-session-id", fmt.Sprint("s", i))
				if status != 200 {
					t.Errorf("session %d, turn %d: %d %s", i, n, status, body)
				}
				if answered.Add(1) == sessions/2 {
					r.halt[0]()
				}
			}
		})
	}
	over.Wait()
	rows := r.rows(sessions * turns)
	if len(rows) != sessions*turns {
		t.Errorf("%d rows for %d turns", len(rows), sessions*turns)
	}
	for _, row := range rows {
		if row.Outcome == "fail" || row.Outcome == "reject" || !explained(t, row) {
			t.Errorf("turn %s: %s %s, by %s", row.ID, row.Outcome, row.Error, row.Decision)
		}
	}
	r.until("the index holds what the living can", func() bool {
		return r.s.all()[0].indexes[16].Stats().Held <= 2*tokens/16
	})
	settles(t, r.s, r.until)
	_, page := r.get("/metrics")
	balances(t, r.s, page, rows)
}

// TestSlowGetsFewer: of two workers of which one is stuck with its first turn,
// the other gets the rest; all are answered in the end.
func TestSlowGetsFewer(t *testing.T) {
	release := make(chan struct{})
	var stuck atomic.Int64
	st := newStage(t,
		&puppet{name: "slow", caps: caps(4000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
			stuck.Add(1)
			select {
			case <-release:
			case <-ctx.Done():
			}
			return aWord(ctx, j)
		}},
		&puppet{name: "fast", caps: caps(4000), play: aWord})
	var over sync.WaitGroup
	for i := range 40 {
		over.Go(func() {
			if status, body := st.post(t.Context(), chatPath, plea(i, 0)); status != 200 {
				t.Errorf("turn %d: %d %s", i, status, body)
			}
		})
		st.until("it is placed", func() bool { return st.s.count.turns.Load()+stuck.Load() == int64(i+1) })
	}
	if n := stuck.Load(); n > 2 {
		t.Errorf("the slow one has %d of 40 turns", n)
	}
	close(release)
	over.Wait()
}

// TestFloodOfOneKey: who sends more than his key allows is refused and told
// when to come back; others are served, and what waits is bounded.
func TestFloodOfOneKey(t *testing.T) {
	gate := make(chan struct{})
	st := newStage(t, slow("w0", gate))
	st.s.SetKeys([]turn.Key{key("flood", "f", func(k *turn.Key) { k.Concurrent = 4 }), key("calm", "c")})
	var over sync.WaitGroup
	var refused, served atomic.Int64
	send := func(secret string) {
		over.Go(func() {
			a := ask(t, "POST", st.url+chatPath, hi, "x-api-key", secret)
			switch {
			case a.status == 200:
				served.Add(1)
			case a.status == 429 && a.header.Get("Retry-After") != "" && secret == "f":
				refused.Add(1)
			default:
				t.Errorf("key %s: %d %s", secret, a.status, a.body)
			}
		})
	}
	for range 64 {
		send("f")
	}
	st.until("the flood is refused", func() bool { return refused.Load() == 60 })
	send("c")
	st.until("the other is in", func() bool { return running(st.s, "calm") == 1 })
	if q := st.s.Snapshot().Queue; q.Depth > 5 {
		t.Errorf("%d turns wait", q.Depth)
	}
	close(gate)
	over.Wait()
	if served.Load() != 5 {
		t.Errorf("%d turns were served", served.Load())
	}
}

// TestRestartOnTheSamePort: an engine that comes back at its address holds
// nothing, and nothing is believed of it.
func TestRestartOnTheSamePort(t *testing.T) {
	at, err := port.Free()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, 0)
	r.start(0, "--port", strconv.Itoa(at))
	for n := range 2 {
		if status, body := r.post(chatPath, plea(1, n), "x-session-id", "s"); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	if rows := r.rows(2); rows[1].Overlap == 0 || rows[1].Overlap != rows[1].Cached {
		t.Errorf("overlap %d, cached %d: want equal and more than nothing", rows[1].Overlap, rows[1].Cached)
	}
	r.halt[0]()
	r.until("it is gone", func() bool { ready, _ := r.s.all()[0].ready(); return ready == 0 })
	if at, n := r.home("s"); at == "" || n != 1 {
		t.Errorf("before it is back %d sessions are at home, this one at %q", n, at)
	}
	ctx, halt := context.WithCancel(context.Background())
	r.halt = append(r.halt, halt)
	go sim.Run(ctx, []string{
		"--port", strconv.Itoa(at), "--served-model-name", "sim", "--speed", "0",
		"--kv-events-config", `{"enable_kv_cache_events":true,"endpoint":"tcp://*:0","replay_endpoint":"tcp://*:0"}`,
	}, io.Discard, io.Discard)
	r.until("it is back", func() bool { ready, _ := r.s.all()[0].ready(); return ready == 1 })
	if at, n := r.home("s"); at != "" || n != 0 {
		t.Errorf("it is back, and %d sessions are at home, this one at %q", n, at)
	}
	for n := range 2 {
		if status, body := r.post(chatPath, plea(1, n), "x-session-id", "s"); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	for i, row := range r.rows(4)[2:] {
		if !explained(t, row) || row.Overlap != row.Cached || (row.Cached == 0) != (i == 0) {
			t.Errorf("turn %d after the restart: overlap %d, cached %d", i, row.Overlap, row.Cached)
		}
	}
}

// home is where a session is at home, and how many are anywhere.
func (r *rig) home(session string) (at string, sessions int) {
	m := r.s.all()[0]
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.books.Home(session), m.books.Sessions()
}

// TestEventsFail: the stream of events is late, cut, or cut for good while an
// agent works: its next turn is known to find what it finds.
func TestEventsFail(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*cable.Cable) (after func())
	}{
		{"late", func(c *cable.Cable) func() { return c.Hold() }},
		{"cut", func(c *cable.Cable) func() { c.Cut(); return func() {} }},
		{"cut again and again", func(c *cable.Cable) func() { c.Cut(); return c.Cut }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 1)
			wire := r.farEvents()
			r.post(chatPath, plea(1, 0))
			after := c.before(wire)
			for n := range 2 {
				if status, body := r.post(chatPath, plea(2, n)); status != 200 {
					t.Fatalf("%d %s", status, body)
				}
			}
			if row := r.rows(3)[2]; row.Overlap == 0 || row.Overlap != row.Cached || !explained(t, row) {
				t.Errorf("meanwhile: overlap %d, cached %d, by %s", row.Overlap, row.Cached, row.Decision)
			}
			after()
			held := 0
			r.until("all is known again", func() bool {
				held = r.s.all()[0].indexes[16].Stats().Held
				return held >= 2*(r.rows(3)[0].Prompt/16)-2
			})
			r.post(chatPath, plea(1, 1))
			if row := r.rows(4)[3]; row.Overlap == 0 || row.Overlap != row.Cached {
				t.Errorf("after that: overlap %d, cached %d", row.Overlap, row.Cached)
			}
		})
	}
}

// farEvents attaches the rig's engine anew, with a cable to its events.
func (r *rig) farEvents() *cable.Cable {
	r.t.Helper()
	resp, err := http.Get(r.sims[0] + "/kv_event_sources")
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var sources map[string]struct {
		Endpoint string `json:"endpoint"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&sources); err != nil {
		r.t.Fatal(err)
	}
	wire, err := cable.New(strings.TrimPrefix(sources["0"].Endpoint, "tcp://"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(wire.Close)
	if err := r.fleet.Detach(r.t.Context(), r.fleet.Workers()[0].Name()); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.fleet.Attach(r.t.Context(), turn.Attach{URL: r.sims[0], Events: "tcp://" + wire.Addr()}); err != nil {
		r.t.Fatal(err)
	}
	return wire
}
