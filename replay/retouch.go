package replay

import (
	"time"

	"github.com/agentinfer/dyn/cache/pause"
	"github.com/agentinfer/dyn/cache/worth"
	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/replay/trace"
	"github.com/agentinfer/dyn/route"
)

// Touch is how idle sessions are kept warm; zero fields are the rule's own.
type Touch struct {
	Zone   float64       // see route.Retouch
	Budget float64       // share of the cache
	Within time.Duration // what is worth most comes back so soon; a minute
	TTL    time.Duration // after a session's last turn; five minutes
}

// Host is the host tier of every worker.
type Host struct {
	Times  float64 // of the KV cache
	Saving fleet.Saving
	Token  float64 // ms to load one; 0 is 0.0052: 50 GB/s, 262 kB a token
}

// give makes a worker's tier.
func (h *Host) give(w *fleet.Worker, c *Config) {
	if h != nil {
		w.Host(fleet.NewTier(int(h.Times*float64(c.KV))/c.Block, h.Saving, h.token()))
	}
}

func (h *Host) token() float64 {
	if h.Token > 0 {
		return h.Token
	}
	return route.DefaultRates.Reload[0]
}

// leases reports whether a session asks to be kept: its sub-agents do as it
// does, and the same ones in every run of a seed.
func (c *Config) leases(l *live) bool {
	for l.parent != nil {
		l = l.parent
	}
	return c.Leased == 0 || float64(trace.Mix(trace.Mix(c.Seed, uint64(l.index)), l.salt)>>11)/(1<<53) < c.Leased
}

// touches is what the router knows of idle sessions, and what it did.
type touches struct {
	c        *Config
	native   int // tokens of the trace's blocks
	lines    map[string]*live
	pauses   *pause.Estimator
	rule     route.Retouch
	sent     int
	tokens   int64 // asked for
	computed int64 // of those that were not there
}

// lease is for how long a session counts as leased after its last turn.
const lease = 5 * time.Minute

// begin prepares a run.
func (t *touches) begin(s *sim) {
	t.c, t.native, t.lines, t.pauses = &s.c, s.t.Block, map[string]*live{}, pause.New()
	set := s.c.Touch
	if set == nil {
		return
	}
	t.rule = route.Retouch{Zone: route.RetouchZone, Budget: route.RetouchSome}
	if set.Zone > 0 {
		t.rule.Zone = set.Zone
	}
	if set.Budget > 0 {
		t.rule.Budget = set.Budget
	}
	within, ttl := time.Minute, lease
	if set.Within > 0 {
		within = set.Within
	}
	if set.TTL > 0 {
		ttl = set.TTL
	}
	t.rule.Rest = t.rule.Budget > 0.5
	t.rule.Leased = func(name string) bool {
		l := t.lines[name]
		return l != nil && l.leased && s.now-l.idle < ttl
	}
	t.rule.Left = func(name, worker string) (tokens, own int) {
		l := t.lines[name]
		if l == nil {
			return 0, 0
		}
		n := s.router.has(s.router.at[worker], l.warm.Chain)
		if n == 0 && l.turn >= l.turns {
			delete(t.lines, name)
		}
		return n * s.c.Block, max(n*s.c.Block-l.src.Shared, 0)
	}
	t.rule.Worth = func(name string, idle time.Duration, tokens int) float64 {
		r := worth.Run{Class: worth.ToolWait, Depth: tokens, Return: t.pauses.Returns(t.lines[name].awaits(), idle, within)}
		return worth.Of(r, worth.DefaultCost)
	}
	for i := range s.workers {
		s.agenda.put(event{at: time.Duration(i) * route.RetouchEvery / time.Duration(len(s.workers)), worker: i, touch: true})
	}
}

// awaits is what a session's next turn waits for.
func (l *live) awaits() pause.Key {
	k := pause.Key{Class: pause.Tool}
	if l.turn >= l.turns || l.src.Turns[l.turn].Human {
		k.Class = pause.Human
	}
	return k
}

// arrives notes that a session came back.
func (t *touches) arrives(p *play, now time.Duration) {
	l := p.session
	p.away = -1
	l.busy, l.leased = true, t.c.leases(l)
	p.req.Save = l.leased
	if l.warm == nil {
		return
	}
	p.away = now - l.idle
	p.due = min(l.src.Turns[l.turn].Keep*t.native, len(l.warm.Chain)*t.c.Block)
	if t.c.Touch != nil || t.c.Evict == ByValue {
		t.pauses.Observe(l.awaits(), p.away)
	}
}

// ended notes what a turn leaves behind.
func (t *touches) ended(p *play, now time.Duration) {
	l := p.session
	l.busy, l.idle, l.warm = false, now, p.req
	if t.c.Touch == nil {
		return
	}
	t.lines[l.name] = l
	if t.c.Blind && l.turn+1 == l.turns { // all that is seen of an end
		t.pauses.Observe(pause.Key{Class: pause.Human}, pause.Never)
	}
}

// retouch looks at what a worker is about to evict.
func (s *sim) retouch(worker int) {
	s.agenda.put(event{at: s.now + route.RetouchEvery, worker: worker, touch: true})
	s.router.tell(s.now, s.c.Lag, s.c.Block)
	for _, name := range s.router.books.Retouch(epoch.Add(s.now), s.router.names[worker], s.touches.rule) {
		l := s.touches.lines[name]
		n := s.router.has(worker, l.warm.Chain)
		// one token more than what is there: a prompt that is there whole has its
		// last block computed again, and the old one would not count as used
		req := &fleet.Request{Chain: l.warm.Chain[:n:n], Content: l.warm.Content[:n:n], Prompt: n*s.c.Block + 1, Output: 1, Hint: l.warm.Slots()}
		req.Owner = s.keep(&play{session: l, req: req, arrived: s.now, worker: worker, touch: true})
		s.workers[worker].Submit(req, s.now)
		s.schedule(s.workers[worker])
	}
}

// touched notes that a session's prompt was asked for.
func (s *sim) touched(p *play) {
	s.plays[p.req.Owner] = nil
	s.spare = append(s.spare, p.req.Owner)
	s.router.books.Touched(epoch.Add(s.now), p.session.name, true)
	if s.tally.counts(s.now) {
		s.touches.sent++
		s.touches.tokens += int64(p.req.Prompt)
		s.touches.computed += int64(p.req.Prompt - p.req.Cached)
	}
}
