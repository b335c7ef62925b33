package replay

import (
	"time"

	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/route"
)

// books are what the router knows of its workers by what it sent there and what
// came back. They see nothing of the engines but that.
type books struct {
	c       *Config
	rates   route.Rates // what the router thinks a worker can do
	workers []desk
	homes   map[*live]*home
	list    []*home
	output  float64 // tokens of an answer, a moving mean
	wanted  []float64
	context []float64
	count   []int
}

// desk is one worker.
type desk struct {
	turns, decoding int
	pending         int // tokens without a first token
	active          int // tokens of turns there
	blocks          int // of those, what they share counted once
	alike           map[uint64]int
	backlog         float64 // ms of prefill at since
	since           time.Duration
}

// home is a session at its worker. One that ended stays for a while: its blocks
// fill the cache as before.
type home struct {
	worker  int
	context int // tokens
	running bool
	last    time.Duration // when its last turn ended
	ended   bool
}

// How long sessions that ended count, and the pauses after which a session that
// is idle counts in part: p = fade/(idle+shift), at most 1.
const (
	linger = 600 * time.Second
	fade   = 60 * time.Second
	shift  = 30 * time.Second
)

func newBooks(c *Config) *books {
	m := &c.Profile
	b := &books{
		c: c, homes: map[*live]*home{}, output: 300, workers: make([]desk, c.Workers),
		wanted: make([]float64, c.Workers), context: make([]float64, c.Workers), count: make([]int, c.Workers),
		rates: route.Rates{Step: m.Step, Token: m.Token, Square: m.Square, Context: m.Context, Seq: m.Seq},
	}
	for i := range b.workers {
		b.workers[i].alike = map[uint64]int{}
	}
	if c.Believed != nil {
		b.rates = *c.Believed
	}
	return b
}

// sent notes that a turn went to a worker.
func (b *books) sent(p *play, overlap int, now time.Duration) {
	w := &b.workers[p.worker]
	w.turns++
	w.pending += p.pending
	w.active += p.req.Prompt
	if w.alike[p.session.src.Prefix]++; w.alike[p.session.src.Prefix] == 1 || p.shared(b.c.Block) == 0 {
		w.blocks += p.blocks(b.c.Block)
	} else {
		w.blocks += p.blocks(b.c.Block) - p.shared(b.c.Block)
	}
	w.age(now)
	w.backlog += b.rates.Prefill(float64(p.pending), float64(overlap))
	h := b.homes[p.session]
	if h == nil {
		h = &home{}
		b.homes[p.session] = h
		b.list = append(b.list, h)
	}
	h.worker, h.context, h.running = p.worker, p.req.Prompt, true
}

// first notes a turn's first token.
func (b *books) first(p *play) {
	w := &b.workers[p.worker]
	w.pending -= p.pending
	w.decoding++
	if w.turns == w.decoding {
		w.backlog = 0
	}
}

// ended notes that a turn is over, and last that its session is.
func (b *books) ended(p *play, now time.Duration, last bool) {
	w := &b.workers[p.worker]
	w.turns--
	w.decoding--
	w.active -= p.req.Prompt
	if w.alike[p.session.src.Prefix]--; w.alike[p.session.src.Prefix] == 0 || p.shared(b.c.Block) == 0 {
		w.blocks -= p.blocks(b.c.Block)
	} else {
		w.blocks -= p.blocks(b.c.Block) - p.shared(b.c.Block)
	}
	b.output += (float64(p.req.Output) - b.output) / 200
	h := b.homes[p.session]
	h.running, h.last, h.context, h.ended = false, now, p.req.Prompt+p.req.Output, last
	if last {
		delete(b.homes, p.session)
	}
}

// age takes off a backlog what time has passed.
func (w *desk) age(now time.Duration) {
	w.backlog = max(w.backlog-ms(now-w.since), 0)
	w.since = now
}

// look fills in what the books say of each candidate for a session's turn.
func (b *books) look(cs []route.Candidate, p *play, workers []*fleet.Worker, now time.Duration) {
	b.homesNow(p.session, now)
	for i := range cs {
		w, c := &b.workers[i], &cs[i]
		w.age(now)
		c.InFlight, c.Pending, c.Decoding, c.Active = w.turns, w.pending, w.decoding, w.active
		c.Backlog, c.Rates = w.backlog, b.rates
		c.Blocks, c.BlockSize = w.blocks, b.c.Block
		if c.Shared = 0; w.alike[p.session.src.Prefix] > 0 {
			c.Shared = p.shared(b.c.Block)
		}
		c.Free, c.Wanted, c.Typical = -1, 0, 0
		if c.KVTokens > 0 {
			c.Free = max(c.KVTokens-w.active, 0)
			c.Wanted = b.wanted[i] / float64(c.KVTokens)
		}
		if b.count[i] > 0 {
			c.Typical = b.context[i] / float64(b.count[i])
		}
		c.Age = workers[i].Pool().Age() // the events of removed blocks tell it
	}
}

// homesNow sums up what the sessions at home at each worker will want, the one
// that asks left out.
func (b *books) homesNow(asks *live, now time.Duration) {
	clear(b.wanted)
	clear(b.context)
	clear(b.count)
	me := b.homes[asks]
	keep := b.list[:0]
	for _, h := range b.list {
		idle := now - h.last
		if h.ended && idle > linger {
			continue
		}
		keep = append(keep, h)
		if h == me {
			continue
		}
		share := 1.0
		if !h.running {
			share = min(1, float64(fade)/float64(idle+shift))
		}
		b.wanted[h.worker] += share * float64(h.context)
		b.context[h.worker] += float64(h.context)
		b.count[h.worker]++
	}
	clear(b.list[len(keep):])
	b.list = keep
}

// home is the worker of a session's last turn, -1 none.
func (b *books) home(l *live) int {
	if h := b.homes[l]; h != nil {
		return h.worker
	}
	return -1
}

// blocks is how many blocks a turn's prompt takes; shared how many of them
// others with the same tools and system prompt have.
func (p *play) blocks(size int) int { return (p.req.Prompt + size - 1) / size }

func (p *play) shared(size int) int { return min(p.session.src.Shared, p.req.Prompt) / size }
