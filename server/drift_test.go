package server

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/server/gauge"
	"github.com/agentinfer/dyn/turn"
)

// learner is a worker whose holdings may be learnt anew.
type learner struct {
	*puppet
	learns bool
	asked  int
}

func (l *learner) Resync() bool {
	l.asked++
	return l.learns
}

// TestDrift: an index that parts from its engine for a minute is learnt anew,
// and the ledger says so; where that does not help it is tried again, later and
// later. Some turns, or a few points, are no reason.
func TestDrift(t *testing.T) {
	type drive struct {
		overlap, cached, turns int // each second, of prompts of 1,000 tokens
		lasts                  time.Duration
	}
	for _, c := range []struct {
		name   string
		events bool
		learns bool
		drives []drive
		want   int
		event  string
		says   string
	}{
		{"they agree", true, true, []drive{{900, 900, 1, 10 * time.Minute}}, 0, "", ""},
		{"ten points", true, true, []drive{{900, 800, 1, 10 * time.Minute}}, 0, "", ""},
		{"for half a minute", true, true, []drive{{900, 100, 1, 30 * time.Second}, {900, 900, 9, 10 * time.Minute}}, 0, "", ""},
		{"two turns", true, true, []drive{{900, 0, 2, time.Second}, {0, 0, 0, 10 * time.Minute}}, 0, "", ""},
		{"believed too much", true, true, []drive{{900, 300, 1, 70 * time.Second}}, 1, "resync", "90% of "},
		{"believed too little", true, true, []drive{{300, 900, 1, 70 * time.Second}}, 1, "resync", "its events are learnt anew"},
		{"it does not help", true, true, []drive{{900, 300, 1, 30 * time.Minute}}, 4, "resync", ""},
		{"nothing is told again", true, false, []drive{{900, 300, 1, 70 * time.Second}}, 1, "drift", "its engine tells nothing again"},
		{"an engine without events", false, false, []drive{{900, 300, 1, 70 * time.Second}}, 1, "resync", "what was assumed of it is forgotten"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := t.TempDir() + "/ledger.db"
			l := ledger.Open(path, ledger.Options{})
			defer l.Close()
			synctest.Test(t, func(t *testing.T) {
				s := New(Options{Ledger: l})
				s.AddModel(Model{ID: "sim", Prompt: simModel(t), Parser: hermes})
				w := &learner{puppet: &puppet{name: "w0", caps: caps(1000)}, learns: c.learns}
				w.caps.Events = c.events
				s.Update(w)
				m := s.all()[0]
				b := m.members["w0"]
				b.index.Assume(b.holder, []uint64{1, 2, 3}, 0)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go s.observe(ctx)
				for _, d := range c.drives {
					for end := time.Now().Add(d.lasts); time.Now().Before(end); time.Sleep(time.Second) {
						b.window.Add(time.Now(), func(g *gauge.Sums) {
							g.Judged += d.turns
							g.JudgedPrompt += 1000 * d.turns
							g.JudgedOverlap += d.overlap * d.turns
							g.JudgedCached += d.cached * d.turns
						})
					}
				}
				synctest.Wait()
				if p := s.Snapshot().Workers[0]; p.Resyncs != c.want || p.ResyncedAt.IsZero() != (c.want == 0) {
					t.Errorf("done %d times, at %v; want %d", p.Resyncs, p.ResyncedAt, c.want)
				}
				if w.asked != c.want {
					t.Errorf("asked %d times, want %d", w.asked, c.want)
				}
				if held := b.index.Stats().Held; (held == 0) != (!c.events && c.want > 0) {
					t.Errorf("%d blocks are still assumed", held)
				}
			})
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			rd, err := ledger.OpenReader(path)
			if c.want == 0 && err != nil {
				return // nothing was written
			}
			if err != nil {
				t.Fatal(err)
			}
			defer rd.Close()
			all, err := rd.WorkerEvents(t.Context(), ledger.Query{})
			if err != nil || len(all) != c.want {
				t.Fatalf("%d events, want %d: %v", len(all), c.want, err)
			}
			for _, e := range all {
				if e.Event != c.event || e.Worker != "w0" || !strings.Contains(e.Detail, c.says) {
					t.Errorf("the ledger says %+v", e)
				}
			}
		})
	}
}

// TestResync: a worker of which nothing is known any more is learnt anew, from
// a real engine.
func TestResync(t *testing.T) {
	r := newRig(t, 1)
	body := `{"model":"sim","messages":[{"role":"user","content":` + quote(words(200)) + `}]}`
	r.post(chatPath, body)
	held := func() int { return r.s.all()[0].indexes[16].Stats().Held }
	r.until("it is known", func() bool { return held() > 0 })
	before := held()
	r.s.KV(turn.KVBatch{Worker: "a0", Events: []turn.KVEvent{{Kind: turn.KVRestart}}}) // what was lost
	if held() != 0 {
		t.Fatal("it is still known")
	}
	m := r.s.all()[0]
	r.s.mend(m, parting{b: m.members["a0"], info: m.members["a0"].info}, time.Now())
	r.until("it is known again", func() bool { return held() == before })
	if status, answer := r.post(chatPath, body); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	if row := r.rows(2)[1]; row.Overlap == 0 || row.Overlap != row.Cached {
		t.Errorf("overlap %d, cached %d: want equal and more than nothing", row.Overlap, row.Cached)
	}
}

// TestDriftOfARealEngine: an engine forgets what it had, and the event that tells
// is lost on the way. Its turns show it: the picture has the difference, it is
// learnt anew after a minute, the ledger says so, and turns are foretold again.
func TestDriftOfARealEngine(t *testing.T) {
	t.Setenv("VLLM_SERVER_DEV_MODE", "1") // which has the route that resets
	r := newRig(t, 1)
	wire := r.farEvents()
	for n := range 2*driftTurns + 1 {
		r.post(chatPath, plea(n, 0))
	}
	m := r.s.all()[0]
	r.until("all is known", func() bool { return m.indexes[16].Stats().Held >= (2*driftTurns+1)*(r.rows(1)[0].Prompt/16-1) })
	wire.Pull() // nobody is told that the connection is gone
	resp, err := http.Post(r.sims[0]+"/reset_prefix_cache", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	for n := range 2 * driftTurns {
		r.post(chatPath, plea(n, 0))
	}
	for _, row := range r.rows(4*driftTurns + 1)[2*driftTurns+1:] {
		if row.Overlap == 0 || row.Overlap <= row.Cached {
			t.Errorf("overlap %d, cached %d: it should be believed too much", row.Overlap, row.Cached)
		}
	}
	w := r.s.Snapshot().Workers[0]
	if w.Drift == nil || *w.Drift <= driftMost || w.Resyncs != 0 {
		t.Fatalf("the picture does not show it: %+v", w)
	}
	wire.Plug()
	since := func() *time.Time { return &m.members[w.Name].drift.since }
	r.until("it is seen", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return !since().IsZero() })
	m.mu.Lock()
	*since() = since().Add(-driftFor) // a minute has gone by
	m.mu.Unlock()
	r.until("it is learnt anew", func() bool { return r.s.Snapshot().Workers[0].Resyncs == 1 })
	r.until("the ledger says so", func() bool {
		rd, err := ledger.OpenReader(r.path)
		if err != nil {
			return false
		}
		defer rd.Close()
		all, err := rd.WorkerEvents(t.Context(), ledger.Query{})
		return err == nil && len(all) > 0 && slices.ContainsFunc(all, func(e ledger.WorkerEvent) bool {
			return e.Event == "resync" && e.Worker == w.Name && strings.Contains(e.Detail, "% were found")
		})
	})
	for n, c := range []struct {
		session   int
		some      bool
		meanwhile string
	}{
		{2 * driftTurns, false, "what is gone is believed in"},
		{2 * driftTurns, true, "what was stored since is not known"},
	} {
		r.post(chatPath, plea(c.session, 0))
		rows := r.rows(4*driftTurns + 2 + n)
		if last := rows[len(rows)-1]; last.Overlap != last.Cached || (last.Overlap > 0) != c.some {
			t.Errorf("overlap %d, cached %d: %s", last.Overlap, last.Cached, c.meanwhile)
		}
		r.until("that is told", func() bool { return m.indexes[16].Stats().Held > 0 })
	}
}
