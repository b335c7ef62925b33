package server

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/gauge"
	"github.com/agentinfer/dyn/turn"
)

// errNoWorker says that no worker could ever take the turn now: none is
// ready, or all ready ones were tried and lost.
var errNoWorker = errors.New("no worker is ready")

// seat is a turn's place at a worker. Its holder calls started at the first
// token and left when the answer ended or was given up; both are safe to
// repeat.
type seat struct {
	m        *model
	member   *member
	worker   Worker
	name     string
	turn     string
	tells    bool // the worker tells cached tokens
	events   bool // and what it stores and evicts
	decision route.Decision
	held     int // tokens of the prompt that the worker is taken to have, in any tier
	block    int // tokens per block of its index; 0 without one
	context  int // tokens of prompt and answer that the worker takes
	pending  int
	gone     bool
	chat     string // why the turn goes to the worker's own chat API; "" is by ids
	tenant   string // whose turn it is
	tokens   int    // of its prompt
	chain    []uint64
	trial    bool          // the worker's turns failed before: this one is to show whether it works
	who      caller        // whose turn it is, to the router
	final    bool          // its session's last
	learner  route.Learner // that chose the worker; nil where the rule does not learn
	sent     time.Time
	first    time.Time // zero before the first token
	fared              // by fly, before left
}

// fared is what a turn took of its worker.
type fared struct {
	output int  // tokens of the answer from this worker
	noted  int  // of those, that the books know of
	cached int  // of the prompt, as the worker says; -1 unknown
	whole  int  // tokens of the whole answer, where the model ended it; else 0
	lost   bool // it ended there without the client
}

// try picks a worker for a flight and books it; mu must be held. wait is true
// when all that could take it are full, or come back in a moment.
func (m *model) try(f *flight) (p placement, wait bool) {
	if !f.stand.forced && m.full(f) {
		return p, true // known without a look at what they hold
	}
	n := m.need(f)
	cs := m.candidates(f, &n)
	if m.holds(f, &n, cs) {
		return p, true
	}
	if f.stand.forced {
		widen(cs)
	}
	d := m.choose(f, &n, cs)
	if (d.Reason == route.TooLong || d.Reason == route.NoWorkers) && m.comes(f) {
		return p, true
	}
	switch d.Reason {
	case route.AllFull:
		return p, true
	case route.TooLong:
		return placement{err: &dialect.Problem{Kind: dialect.TooLong, Prompt: f.job.Prompt.Len(), Limit: m.room()}}, false
	case route.NoWorkers:
		return placement{err: errNoWorker}, false
	}
	m.decided++
	d.Held = f.stand.done
	return placement{st: m.book(f, &n, cs, d)}, false
}

// full reports whether there are workers for the flight and none has room; one
// that gets no turns for a moment has none. mu must be held.
func (m *model) full(f *flight) bool {
	some, now := false, time.Now()
	for name, b := range m.members {
		if b.info.State != turn.Ready || f.avoids(name) {
			continue
		}
		if b.breaker.Open(now) {
			some = some || b.breaker.Soon(now)
			continue
		}
		if !route.Full(m.load(name, b)) {
			return false
		}
		some = true
	}
	return some
}

// load is a worker as a candidate, as far as its limits say whether it is full;
// mu must be held.
func (m *model) load(name string, b *member) route.Candidate {
	turns, pending := m.books.Busy(name)
	c := route.Candidate{
		Worker: name, InFlight: turns + b.foreign, Pending: pending,
		Slots: b.info.Caps.MaxSeqs, MaxBatched: b.info.Caps.MaxBatched,
		Context: b.info.Caps.Context, KVTokens: b.info.Caps.KVTokens,
		Bound: b.bound,
	}
	if b.slots > 0 {
		c.Slots = b.slots
	}
	return c
}

// book takes a seat at the decision's worker, one of the candidates; mu must be
// held.
func (m *model) book(f *flight, n *route.Need, cs []route.Candidate, d route.Decision) *seat {
	b, now := m.members[d.Worker], time.Now()
	st := &seat{m: m, turn: f.t.ID, member: b, worker: b.worker, name: d.Worker, tells: b.info.Caps.Cached, events: b.info.Caps.Events, decision: d, context: m.contextOf(b)}
	st.tenant, st.tokens, st.who, st.final, st.sent, st.cached = f.t.Tenant, f.job.Prompt.Len(), f.caller, f.t.Hints.Final, now, -1
	st.trial = b.breaker.Take()
	if b.index != nil {
		st.block = b.index.Block() // what it holds is told in these, whatever it says now
	}
	st.chain = f.chains[st.block]
	st.chat = m.way(f, b)
	m.seats[st] = struct{}{}
	m.send(st, f, n, cs)
	m.expects(b, f, st.chat)
	b.window.Add(now, func(s *gauge.Sums) {
		s.Decided++
		s.Prompt += st.tokens
		s.Predicted += st.held
	})
	return st
}

// expects tells the index what a worker will hold of a flight's prompt; chat is
// why it goes to the worker's own chat API. mu must be held.
func (m *model) expects(b *member, f *flight, chat string) {
	if b.index == nil {
		return
	}
	block := b.index.Block()
	switch chain := f.chains[block]; {
	case chat != "":
		m.assume(b, chain)
	case b.info.Caps.Events:
		b.index.Expect(b.holder, chain, expectFor)
	default:
		b.index.Assume(b.holder, chain, b.info.Caps.KVTokens/block)
	}
}

// room is the most tokens that a prompt may have at some ready worker; mu
// must be held.
func (m *model) room() int {
	most := 0
	for _, b := range m.members {
		if b.info.State != turn.Ready {
			continue
		}
		fits := m.contextOf(b)
		if kv := b.info.Caps.KVTokens; kv > 0 {
			fits = min(fits, kv)
		}
		most = max(most, fits)
	}
	return most
}

// candidates are the workers in the order of their names, with what each is
// believed to hold of the flight's prompt and what the books say of it, until
// they are asked for again; mu must be held.
func (m *model) candidates(f *flight, n *route.Need) []route.Candidate {
	cs, now := m.desk.candidates[:0], time.Now()
	for name, b := range m.members {
		c := m.load(name, b)
		c.Context = m.contextOf(b)
		switch {
		case b.info.State != turn.Ready:
			c.Out = string(b.info.State)
		case f.avoids(name):
			c.Out = "lost or refused this turn, or cannot what it needs"
		case b.breaker.Open(now):
			c.Out = b.breaker.Why(now)
		}
		c.Stuck = b.stuck()
		cs = append(cs, c)
	}
	slices.SortFunc(cs, func(a, b route.Candidate) int { return natural(a.Worker, b.Worker) })
	m.held(f, cs)
	m.believe(f, cs)
	m.desk.blockwise = m.blockwise(m.rule(f))
	for i := range cs {
		m.books.Fill(now, n, &cs[i])
		m.members[cs[i].Worker].others(&cs[i])
		if m.desk.blockwise {
			m.share(f, &cs[i])
		}
	}
	m.desk.candidates = cs
	return cs
}

// held sets how many tokens of the prompt each candidate has; mu must be held.
// The last token is always computed, so its block is not asked for.
func (m *model) held(f *flight, cs []route.Candidate) {
	for block, x := range m.indexes {
		chain := f.chains[block]
		chain = chain[:min(len(chain), (f.job.Prompt.Len()-1)/block)]
		m.desk.overlaps = x.Overlap(m.desk.overlaps[:0], chain)
		for _, o := range m.desk.overlaps {
			name, chats := strings.CutSuffix(o.Worker, ofChats)
			i, ok := slices.BinarySearchFunc(cs, name, func(c route.Candidate, name string) int { return natural(c.Worker, name) })
			if ok && m.members[name].index == x && (!chats || m.way(f, m.members[name]) != "") {
				tiers(&cs[i], o, block)
			}
		}
	}
}

// natural orders w2 before w10.
func natural(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// started says that the first token came.
func (st *seat) started() {
	st.m.mu.Lock()
	defer st.m.mu.Unlock()
	trial := st.trial
	if trial {
		st.trial = false
		st.member.breaker.Began()
	}
	now := time.Now()
	if st.first.IsZero() {
		st.first = now
		st.m.books.First(now, st.turn)
	}
	if st.pending > 0 || trial {
		st.pending = 0
		st.m.pump()
	}
}

// left gives the seat back, and notes how the turn fared there: nil is well,
// errUntold says nothing about the worker.
func (st *seat) left(how error) {
	st.m.mu.Lock()
	defer st.m.mu.Unlock()
	b := &st.member.breaker
	switch {
	case st.gone || errors.Is(how, errUntold):
	case how == nil:
		st.trial = false
		b.Done()
	default:
		st.trial = false
		if pause := b.Fail(time.Now(), st.turn, how.Error()); pause > 0 {
			time.AfterFunc(pause, st.m.again)
		}
	}
	st.leave(how)
	st.m.pump()
	st.m.spare()
}

// errUntold is an end of a turn that says nothing about its worker.
var errUntold = errors.New("the worker is not why")

// again seats who waited for the end of a worker's pause.
func (m *model) again() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pump()
}

// leave gives the seat back and tells how the turn fared; the model's mutex
// must be held.
func (st *seat) leave(how error) {
	if st.gone {
		return
	}
	st.gone = true
	delete(st.m.seats, st)
	if st.trial {
		st.member.breaker.Drop()
	}
	st.pending = 0
	st.end(how)
}
