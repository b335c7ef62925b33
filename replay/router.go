package replay

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/route/script"
	"github.com/agentinfer/dyn/turn"
)

// Strategy is a rule of package route.
type Strategy interface {
	Pick(route.Need, []route.Candidate) route.Decision
}

// strategy finds a rule as the server does: by name with its knobs,
// "dynamo:prefill=16", or in a file, "mine.star".
func strategy(name string) (Strategy, error) { return script.New(name) }

// Strategies lists the rules there are, the default first.
func Strategies() []string { return route.Names() }

// router is the router of one model: what it believes, and its books.
type router struct {
	rule    Strategy
	learner route.Learner // rule, if it learns
	c       *Config
	books   *route.Books
	gate    route.Gate
	blocks  bool              // the rule looks at the blocks of running turns
	base    []route.Candidate // what is known of workers beforehand
	index   *cache.Index
	holders []cache.Holder
	names   []string
	at      map[string]int
	cs      []route.Candidate
	over    []cache.Overlap
	decided uint64
	failed  int             // decisions that the default made in the rule's place
	warning string          // why, the first time
	events  []fleet.Event   // not told yet
	told    int             // of events
	ids     []uint32        // tokens of stored blocks
	workers []*fleet.Worker // whose host tiers it sees; nil where there are none
}

func newRouter(c *Config, now func() time.Time) (*router, error) {
	build := c.Rule
	if build == nil {
		build = func() (Strategy, error) { return strategy(c.Strategy) }
	}
	rule, err := build()
	if err != nil {
		return nil, err
	}
	r := &router{
		rule: rule, c: c, books: route.NewBooks(0), gate: route.Gate{Mode: c.Gate}, at: map[string]int{},
		index: cache.NewIndex(c.Block, cache.Options{MaxBlocks: 1 << 27, Now: now}),
	}
	r.learner, _ = rule.(route.Learner)
	r.blocks = strings.HasPrefix(c.Strategy, "dynamo") || strings.HasSuffix(c.Strategy, script.Suffix)
	limits := route.Limits{KVTokens: max(c.KV, 0), MaxBatched: c.Profile.Batched, Events: c.Assume == 0, Rates: c.believed()}
	for i := range c.Workers {
		name := "w" + strconv.Itoa(i)
		h, err := r.index.Join(name)
		if err != nil {
			return nil, err
		}
		r.names, r.holders, r.at[name] = append(r.names, name), append(r.holders, h), i
		r.base = append(r.base, route.Candidate{Worker: name, Slots: c.slots(), MaxBatched: c.batched(), KVTokens: max(c.KV, 0)})
		r.books.Worker(name, limits)
	}
	r.cs = make([]route.Candidate, len(r.base))
	return r, nil
}

// hear takes events in that the index will be told of when their time comes.
func (r *router) hear(events []fleet.Event) {
	if r.c.Assume == 0 {
		r.events = append(r.events, events...)
	}
}

// tell tells the index all events that are as old as the lag.
func (r *router) tell(now, lag time.Duration, block int) {
	for r.told < len(r.events) && r.events[r.told].At+lag <= now {
		r.apply(&r.events[r.told], block)
		r.events[r.told] = fleet.Event{}
		r.told++
	}
	if r.told > 1024 && r.told > len(r.events)/2 {
		n := copy(r.events, r.events[r.told:])
		clear(r.events[n:])
		r.events, r.told = r.events[:n], 0
	}
}

// apply tells the index one event, in the form of an engine's.
func (r *router) apply(e *fleet.Event, block int) {
	ev := turn.KVEvent{Kind: turn.KVRemoved, Hashes: e.Removed, BlockSize: block}
	if len(e.Stored) > 0 {
		need := len(e.Stored) * block
		if need > len(r.ids) {
			r.ids = make([]uint32, need+need/2)
		}
		for i, c := range e.Content {
			write(r.ids[i*block:], c)
		}
		ev.Kind, ev.Hashes, ev.Tokens = turn.KVStored, e.Stored, r.ids[:need]
		ev.Parent, ev.HasParent = e.Parent, e.HasParent
	}
	r.index.Apply(r.holders[e.Worker], ev)
	if n := len(e.Removed); n > 0 {
		r.books.Evicted(epoch.Add(e.At+r.c.Lag), r.names[e.Worker], n*block)
	}
}

// look fills the candidates and the need of a turn.
func (r *router) look(p *play, now time.Time) {
	p.need = route.Need{
		Turn: p.id, Prompt: p.req.Prompt, Seq: r.decided, Session: p.session.name, Prefix: p.session.src.Prefix,
		Output: r.books.Lengths.Mean("", ""), Home: r.books.Home(p.session.name), Seed: r.c.Seed,
	}
	if r.c.Foresees {
		p.need.Output = float64(p.req.Output)
	}
	if p.session.parent != nil {
		p.need.Parent = p.session.parent.name
	}
	copy(r.cs, r.base)
	r.over = r.index.Overlap(r.over[:0], p.asked)
	for _, o := range r.over {
		r.cs[r.at[o.Worker]].Overlap = o.Tokens
	}
	for i := range r.cs {
		r.cs[i].Lower[0] = r.below(i, p.asked, r.cs[i].Overlap)
		r.books.Fill(now, &p.need, &r.cs[i])
		if r.blocks {
			r.cs[i].Shared = r.books.Shared(r.names[i], p.asked)
		}
	}
}

// has is how many blocks of a chain a worker is believed to have.
func (r *router) has(worker int, chain []uint64) int {
	r.over = r.index.Overlap(r.over[:0], chain)
	for _, o := range r.over {
		if r.at[o.Worker] == worker {
			return o.Tokens / r.c.Block
		}
	}
	return 0
}

// below is how many tokens behind an overlap a worker's host tier has. Unlike
// what its events tell, that is seen at once.
func (r *router) below(worker int, chain []uint64, overlap int) int {
	if r.workers == nil {
		return 0
	}
	return r.workers[worker].HostDepth(chain, overlap/r.c.Block) * r.c.Block
}

// holds reports whether the gate holds a turn back, and until when.
func (r *router) holds(p *play, now time.Time) (bool, time.Time) {
	if r.gate.Mode == route.Open {
		return false, now
	}
	v := r.gate.Judge(now, epoch.Add(p.arrived), &p.need, r.cs)
	return !v.Admit, v.Until
}

// pick decides where a turn goes that was looked at; the worker is -1 where it
// has to wait or fits none.
func (r *router) pick(p *play) (worker, overlap int, d route.Decision) {
	d = r.rule.Pick(p.need, r.cs)
	if d.Warning != "" {
		r.failed++
		r.warning = cmp.Or(r.warning, d.Warning)
	}
	if d.Worker == "" {
		return -1, 0, d
	}
	r.decided++
	return r.at[d.Worker], d.Overlap, d
}

// expect is how long a turn's blocks are believed to be where it was sent
// before the worker has told of them.
const expect = cache.ExpectTTL

// sent notes where a turn went.
func (r *router) sent(p *play, overlap int, now time.Time) {
	sending := route.Sending{Need: &p.need, Worker: r.names[p.worker], Overlap: overlap, Lower: r.cs[p.worker].Lower}
	if r.blocks {
		sending.Chain, sending.BlockSize = p.asked, r.c.Block
	}
	r.books.Sent(now, sending)
	if h := r.holders[p.worker]; r.c.Assume > 0 {
		r.index.Assume(h, p.asked, r.c.Assume)
	} else if r.c.Engine != Blocks || r.c.Lag > 0 { // else its events are heard before anybody asks again
		r.index.Expect(h, p.asked, expect)
	}
}

// ended notes that a turn is over.
func (r *router) ended(p *play, now time.Time, last bool) {
	o := route.Outcome{
		Turn: p.id, Session: p.session.name, Worker: r.names[p.worker], Prompt: p.req.Prompt, Cached: p.req.Cached,
		Output: p.req.Output, TTFT: p.req.First - p.arrived,
	}
	if n := p.req.Output - 1; n > 0 {
		o.Step = (p.req.Ended - p.req.First) / time.Duration(n)
	}
	r.books.Ended(now, o)
	r.books.Lengths.Observe("", "", o.Output)
	if last && !r.c.Blind {
		r.books.Closed(now, p.session.name)
	}
	if r.learner != nil {
		r.learner.Observe(o)
	}
}

// Known says what is wrong with the name of a strategy.
func Known(name string) error {
	_, err := strategy(name)
	return err
}
