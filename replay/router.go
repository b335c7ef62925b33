package replay

import (
	"strconv"
	"time"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/turn"
)

// Strategy is a rule of package route.
type Strategy interface {
	Pick(route.Need, []route.Candidate) route.Decision
}

// strategy finds a rule by name.
func strategy(name string, _ uint64) (Strategy, error) { return route.New(name) }

// Strategies lists the rules there are, the default first.
func Strategies() []string { return route.Names() }

// router is the router of one model: what it believes, and its books.
type router struct {
	rule    Strategy
	index   *cache.Index
	holders []cache.Holder
	names   []string
	at      map[string]int
	cs      []route.Candidate
	over    []cache.Overlap
	decided uint64
	events  []fleet.Event // not told yet
	told    int           // of events
	ids     []uint32      // tokens of stored blocks
}

func newRouter(c *Config) (*router, error) {
	make := c.Rule
	if make == nil {
		make = func() (Strategy, error) { return strategy(c.Strategy, c.Seed) }
	}
	rule, err := make()
	if err != nil {
		return nil, err
	}
	r := &router{rule: rule, at: map[string]int{}, index: cache.NewIndex(c.Block, cache.Options{MaxBlocks: 1 << 27})}
	for i := range c.Workers {
		name := "w" + strconv.Itoa(i)
		h, err := r.index.Join(name)
		if err != nil {
			return nil, err
		}
		r.names, r.holders, r.at[name] = append(r.names, name), append(r.holders, h), i
		r.cs = append(r.cs, route.Candidate{
			Worker: name, Slots: c.Profile.Slots, MaxBatched: c.Profile.Batched, KVTokens: max(c.KV, 0),
		})
	}
	return r, nil
}

// hear takes events in that the index will be told of when their time comes.
func (r *router) hear(events []fleet.Event) { r.events = append(r.events, events...) }

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
}

// pick decides where a turn goes; the worker is -1 where it has to wait or
// fits none.
func (r *router) pick(p *play) (worker, overlap int, d route.Decision) {
	for i := range r.cs {
		r.cs[i].Overlap = 0
	}
	r.over = r.index.Overlap(r.over[:0], p.asked)
	for _, o := range r.over {
		r.cs[r.at[o.Worker]].Overlap = o.Tokens
	}
	d = r.rule.Pick(route.Need{Turn: p.id, Prompt: p.req.Prompt, Seq: r.decided}, r.cs)
	if d.Worker == "" {
		return -1, 0, d
	}
	r.decided++
	return r.at[d.Worker], d.Overlap, d
}

// sent, first and ended keep the books.
func (r *router) sent(p *play) {
	c := &r.cs[p.worker]
	c.InFlight++
	c.Pending += p.pending
}

func (r *router) first(p *play) { r.cs[p.worker].Pending -= p.pending }

func (r *router) ended(p *play) { r.cs[p.worker].InFlight-- }

// Known says what is wrong with the name of a strategy.
func Known(name string) error {
	_, err := strategy(name, 1)
	return err
}
