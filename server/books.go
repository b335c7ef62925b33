package server

import (
	"cmp"
	"time"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/turn"
)

// The model's books are what the router knows by its own doing. They are told
// of a turn when it is sent, at its first token, now and then while its answer
// grows, and when it ends; of a worker when it comes, evicts, begins anew and
// leaves. The model's mutex guards them.

// enter opens a worker's account in the books, or notes what changed about it;
// mu must be held. What a process that is no more had is nobody's.
func (m *model) enter(b *member, info turn.WorkerInfo) {
	was, caps := b.info, info.Caps
	anew := info.Restarts > was.Restarts && was.State != ""
	if anew || was.State == turn.Down && info.State == turn.Ready {
		m.books.Cleared(info.Name)
		m.leases.Cleared(info.Name, info.Name+" was started anew")
	}
	if anew {
		m.unlearn(info.Name)
	}
	m.leases.Limit(time.Now(), info.Name, caps.KVTokens)
	m.books.Worker(info.Name, route.Limits{KVTokens: caps.KVTokens, MaxBatched: caps.MaxBatched, Events: caps.Events})
}

// unlearn has the strategies forget a worker; mu must be held.
func (m *model) unlearn(worker string) {
	for _, s := range m.strategies {
		if l, ok := s.(route.Learner); ok {
			l.Forget(worker)
		}
	}
}

// evicted tells the books what a worker says that it has no more in its GPUs;
// mu must be held. That its events are told anew says nothing of the kind.
func (m *model) evicted(batch turn.KVBatch, block int) {
	gone := 0
	for i := range batch.Events {
		switch ev := &batch.Events[i]; {
		case ev.Kind == turn.KVCleared:
			m.books.Cleared(batch.Worker)
			m.leases.Cleared(batch.Worker, batch.Worker+" cleared its cache")
		case ev.Kind == turn.KVRemoved && (ev.Tier == "" || ev.Tier == "gpu"):
			gone += len(ev.Hashes)
		}
	}
	m.books.Evicted(time.Now(), batch.Worker, gone*block)
}

// forgetSession has the books forget a session.
func (m *model) forgetSession(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.books.Forget(session)
}

// need is what a flight asks of its worker; mu must be held.
func (m *model) need(f *flight) route.Need {
	who, h := &f.caller, &f.t.Hints
	n := route.Need{
		Turn: f.t.ID, Prompt: m.length(f), Seq: m.decided, Session: who.session, Parent: who.parent, Home: m.books.Home(who.session),
		Pin: f.demand.worker, Prefix: who.prefix, Output: float64(h.OSL), Priority: float64(h.Priority), Batch: h.Batch,
		Overrides: m.knobs.overrides(h.Route),
	}
	if h.OSL <= 0 {
		n.Output = m.books.Lengths.Mean(who.kind, who.tool)
	}
	if most := f.job.MaxTokens; most > 0 {
		n.Output = min(n.Output, float64(most))
	}
	return n
}

// blockwise reports whether a strategy looks at the blocks of running turns;
// mu must be held.
func (m *model) blockwise(strategy string) bool {
	s, ok := m.strategy(strategy).(route.Blockwise)
	return ok && s.Blockwise()
}

// others adds the load that others put on an attached engine to what the books
// know of ours; the model's mutex must be held.
func (b *member) others(c *route.Candidate) {
	if !b.info.Attached {
		return
	}
	c.Decoding += b.foreign
	c.Active = max(c.Active, int(b.used*float64(c.KVTokens)))
	if c.KVTokens > 0 {
		c.Free = max(c.KVTokens-c.Active, 0)
	}
}

// share sets how many blocks of the prompt the worker's turns have; mu must be
// held.
func (m *model) share(f *flight, c *route.Candidate) {
	if x := m.members[c.Worker].index; x != nil {
		c.Shared = m.books.Shared(c.Worker, f.chains[x.Block()])
	}
}

// tiers sets what a candidate has of the prompt, where that is more than was
// known. What is expected counts as the GPU's.
func tiers(c *route.Candidate, o cache.Overlap, block int) {
	if o.Tokens <= c.Holds() {
		return
	}
	c.Lower = [3]int{o.Host * block, o.Disk * block, o.Remote * block}
	c.Overlap = 0
	c.Overlap = max(o.Tokens-c.Holds(), 0)
}

// send notes in the books that a turn goes to its seat's worker, one of the
// candidates; mu must be held.
func (m *model) send(st *seat, f *flight, n *route.Need, cs []route.Candidate) {
	s := route.Sending{Need: n, Worker: st.name, Prefill: st.decision.Prefill, Overlap: st.decision.Overlap}
	for i := range cs {
		if cs[i].Worker == cmp.Or(s.Prefill, st.name) {
			s.Lower = cs[i].Lower
			st.held = min(cs[i].Holds(), n.Prompt)
		}
	}
	st.learner, _ = m.strategy(m.rule(f)).(route.Learner)
	if m.desk.blockwise {
		s.Chain, s.BlockSize = st.chain, st.block
	}
	st.pending = max(n.Prompt-s.Overlap, 0)
	m.books.Sent(st.sent, s)
}

// growth is after how many tokens of an answer the books are told of them.
const growth = 512

// grew notes how many tokens the answer has from the seat's worker.
func (st *seat) grew(tokens int) {
	if tokens-st.noted < growth {
		return
	}
	st.noted = tokens
	st.m.mu.Lock()
	defer st.m.mu.Unlock()
	st.m.books.Tokens(time.Now(), st.turn, tokens)
}

// ended takes what the worker says at its end of an answer that has so many
// tokens by then.
func (st *seat) ended(e *turn.End, answer int) {
	st.output = e.Usage.Output
	if st.tells && st.chat == "" {
		st.cached = e.Usage.Cached
	}
	if e.Reason != turn.Cut && e.Reason != turn.Aborted {
		st.whole = answer
	}
}

// end notes in the books how a turn fared at its seat's worker; the model's
// mutex must be held. A rule that learns hears of what its worker did.
func (st *seat) end(how error) {
	m, now := st.m, time.Now()
	o := route.Outcome{
		Turn: st.turn, Session: st.who.session, Worker: st.name, Prompt: st.tokens, Cached: st.cached, Output: st.output, Err: st.lost,
	}
	m.books.Ended(now, o)
	if st.whole > 0 {
		m.books.Lengths.Observe(st.who.kind, st.who.tool, st.whole)
	}
	if st.final && !st.lost {
		m.books.Closed(now, st.who.session)
	}
	if st.learner == nil || how == errUntold {
		return
	}
	if o.Err = how != nil; !st.first.IsZero() {
		o.TTFT = st.first.Sub(st.sent)
		if o.Output > 1 {
			o.Step = now.Sub(st.first) / time.Duration(o.Output-1)
		}
	}
	st.learner.Observe(o)
}
