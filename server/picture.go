package server

import (
	"cmp"
	"os"
	"slices"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/server/gauge"
	"github.com/agentinfer/dyn/turn"
)

// fresh is how old a picture may be to be shown again, so that many viewers
// cost little more than one.
const fresh = 50 * time.Millisecond

// Snapshot returns the whole picture, at most 50 ms old.
func (s *Server) Snapshot() snapshot.Snapshot {
	now := time.Now()
	if p := s.drawn.Load(); p != nil && now.Sub(p.At) < fresh {
		return *p
	}
	p := s.draw(now)
	s.drawn.Store(&p)
	return p
}

// draw makes the picture.
func (s *Server) draw(now time.Time) snapshot.Snapshot {
	p := snapshot.Snapshot{V: 1, At: now, Ledger: s.ledger.Health()}
	word, _, _ := s.state()
	p.Daemon = snapshot.Daemon{PID: os.Getpid(), Version: s.o.Version, Started: s.started, State: word}
	if url := s.url.Load(); url != nil {
		p.Daemon.URL = *url
	}
	k := s.Knobs()
	for _, m := range s.all() {
		ready, all := m.ready()
		p.Models = append(p.Models, snapshot.Model{
			ID: m.ID, Recipe: m.Recipe, Context: m.known(), Workers: all, Ready: ready, Mode: k.Text("router.mode"), Gate: k.Text("router.gate"), Path: m.path(), Why: m.Stands,
		})
		p.Workers = append(p.Workers, m.picture(now)...)
		p.Totals.Orphans += m.orphans()
	}
	p.Tiers = sumTiers(p.Workers)
	p.Queue = s.queuePicture(now)
	for _, m := range s.all() {
		m.gatePicture(&p, now)
	}
	p.Leases = s.leasePicture(now)
	p.Sessions = s.sessionPicture(now)
	p.Latency = s.latencyPicture(now)
	s.totals(&p.Totals, now)
	for _, one := range p.Sessions {
		for _, a := range one.Agents {
			p.Totals.Context += int64(a.Context + a.Left)
			p.Totals.Gone += int64(a.Gone)
		}
	}
	p.Memory = s.memory()
	p.Hooks = s.count.hooks.picture()
	return p
}

// memory draws what is held so that next turns are quick.
func (s *Server) memory() snapshot.Memory {
	st := s.sessions.Stats()
	m := snapshot.Memory{Agents: st.Agents, Prompts: int64(st.Bytes), Limit: int64(st.Limit), Dropped: int64(st.Dropped), Ledger: s.ledger.Memory(), Bodies: int64(s.recall.Stats().Bytes), RSS: rss()}
	for _, one := range s.all() {
		m.Raw += int64(one.raw.Bytes())
		m.Limit += rawBytes
	}
	return m
}

// picture draws the model's workers, sorted by name.
func (m *model) picture(now time.Time) []snapshot.Worker {
	m.mu.Lock()
	defer m.mu.Unlock()
	ws := make([]snapshot.Worker, 0, len(m.members))
	for _, b := range m.members {
		w := b.picture(m.ID, now)
		w.InFlight, _ = m.books.Busy(w.Name)
		m.memoryPicture(&w, now)
		w.Path, w.PathWhy = m.pathTo(b)
		w.Ranks = b.info.Caps.Ranks
		ws = append(ws, w)
	}
	slices.SortFunc(ws, func(a, b snapshot.Worker) int { return natural(a.Name, b.Name) })
	return ws
}

// picture draws one worker; the model's mutex must be held.
func (b *member) picture(model string, now time.Time) snapshot.Worker {
	load, sum, info := b.worker.Load(), b.window.Look(now), b.info
	w := snapshot.Worker{
		Name: info.Name, Model: model, PID: info.PID, URL: info.URL, Attached: info.Attached, Engine: info.Caps.Engine,
		State: string(info.State), Why: cmp.Or(info.Why, b.breaker.Why(now), b.stuck()), Since: info.Since, Restarts: info.Restarts, GPUs: info.GPUs,
		Started: info.Started, Adopted: info.Adopted,
		Index: "approximate", Running: load.Running, Waiting: load.Waiting, LoadAt: load.At,
		Slots: info.Caps.MaxSeqs, WindowS: windowSteps, Decided: sum.Decided, Prompt: sum.Prompt, Predicted: sum.Predicted,
		Overlap: share(sum.Predicted, sum.Prompt), Reported: sum.EndedCached, Hit: share(sum.EndedCached, sum.EndedPrompt),
		TTFT: quantiles(&sum.TTFT), TPS: float64(sum.Output) / windowSteps, KVUsed: load.KVUsed,
	}
	if info.Caps.Events {
		w.Index = "events"
	}
	if off, ok := drifted(sum); ok {
		w.Drift = &off
	}
	w.Resyncs, w.ResyncedAt = b.drift.syncs, b.drift.last
	w.Tiers = b.tiers(load)
	return w
}

// tiers joins what the engine's metrics say of its tiers with what its events
// do; the model's mutex must be held.
func (b *member) tiers(load turn.Load) []snapshot.Tier {
	var tiers []snapshot.Tier
	for _, t := range load.Tiers {
		tiers = append(tiers, snapshot.Tier{Name: t.Name, Used: t.Used, Cached: -1, Capacity: t.Capacity})
	}
	if len(tiers) == 0 && b.info.Caps.KVTokens > 0 {
		used := int(load.KVUsed*float64(b.info.Caps.KVTokens) + 0.5)
		tiers = append(tiers, snapshot.Tier{Name: "gpu", Used: used, Cached: -1, Capacity: b.info.Caps.KVTokens})
	}
	if b.index == nil || !b.info.Caps.Events {
		return tiers
	}
	for _, held := range b.index.Cached(b.holder) {
		tiers = withCached(tiers, held.Name, max(held.Cached, 0)) // one that has told nothing yet holds nothing
	}
	return tiers
}

// withCached sets a tier's cached tokens, adding the tier when it is new.
func withCached(tiers []snapshot.Tier, name string, tokens int) []snapshot.Tier {
	for i := range tiers {
		if tiers[i].Name == name {
			tiers[i].Cached = tokens
			return tiers
		}
	}
	return append(tiers, snapshot.Tier{Name: name, Cached: tokens})
}

// sumTiers adds up the tiers of all workers, in the order of first sight.
func sumTiers(ws []snapshot.Worker) []snapshot.Tier {
	var sum []snapshot.Tier
	for _, w := range ws {
		for _, t := range w.Tiers {
			sum = addTier(sum, t)
		}
	}
	return sum
}

func addTier(sum []snapshot.Tier, t snapshot.Tier) []snapshot.Tier {
	for i := range sum {
		if sum[i].Name != t.Name {
			continue
		}
		sum[i].Used += t.Used
		sum[i].Capacity += t.Capacity
		if t.Cached >= 0 {
			sum[i].Cached = max(sum[i].Cached, 0) + t.Cached
		}
		return sum
	}
	return append(sum, t)
}

// orphans counts KV events that could not be placed.
func (m *model) orphans() (n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n = m.pruned
	for _, x := range m.indexes {
		n += x.Stats().Dropped()
	}
	for _, b := range m.members {
		n += b.info.Dropped
	}
	return n
}

// totals fills the counts since the start.
func (s *Server) totals(t *snapshot.Totals, now time.Time) {
	c, sum := &s.count, s.recent.Look(now)
	t.Turns, t.Failed = c.turns.Load(), c.failed.Load()
	t.Prompt, t.Cached, t.Output = c.prompt.Load(), c.cached.Load(), c.output.Load()
	t.Hit = share(int(t.Cached), int(c.told.Load()))
	t.RPS, t.TPS = float64(sum.Ended)/windowSteps, float64(sum.Output)/windowSteps
	t.Moved, t.Chats = c.moved.Load(), c.chats.Load()
	t.Orphans += c.orphans.Load()
}

// latencyPicture covers the last five minutes.
func (s *Server) latencyPicture(now time.Time) snapshot.Latency {
	sum := s.history.Look(now)
	l := snapshot.Latency{
		WindowS: int(s.history.Span().Seconds()), TTFT: quantiles(&sum.TTFT), ITL: quantiles(&sum.ITL), HistoryS: 5,
	}
	s.history.Each(now, func(b *gauge.Sums) {
		l.History = append(l.History, snapshot.Point{TTFTP50: quantile(&b.TTFT, 0.5), Hit: ratio(b.EndedCached, b.EndedPrompt)})
	})
	return l
}

// quantiles draws a histogram.
func quantiles(h *gauge.Hist) snapshot.Quantiles {
	return snapshot.Quantiles{N: h.N(), P50: quantile(h, 0.5), P95: quantile(h, 0.95)}
}

func quantile(h *gauge.Hist, q float64) float64 {
	if d := h.Quantile(q); d >= 0 {
		return ms(d)
	}
	return -1
}

// share is a/b, nil when b is 0.
func share(a, b int) *float64 {
	if b == 0 {
		return nil
	}
	r := float64(a) / float64(b)
	return &r
}
