package server

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/cache/lease"
	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/server/gauge"
	"github.com/agentinfer/dyn/turn"
)

// Model is what clients may name, and how its turns become tokens.
type Model struct {
	ID     string
	Recipe string
	Prompt *prompt.Model
	Parser *parsers.Format // of answers; nil leaves calls and reasoning text

	// Stands is why Prompt only stands for the engine's own tokenizer and
	// template, which dyn does not have, so that all conversations take the
	// chat path; "" is that it is the engine's.
	Stands string

	// Awaited is until when turns wait for an engine of an earlier daemon that
	// is being taken over: it served this model, and what it can do is known
	// when it has given a token. Zero waits for none.
	Awaited time.Time
}

// expectFor is how long blocks that a routed turn will store count as held
// before the worker's events confirm them (routing.md's overlay; events of a
// busy vLLM arrive up to 205 ms late, a long prefill takes seconds).
const expectFor = 5 * time.Second

// model is a served Model: its workers, what they hold, and who waits.
type model struct {
	Model
	raw *prompt.Raw

	mu      sync.Mutex // guards all below
	members map[string]*member
	indexes map[int]*cache.Index // by block size
	queue   route.Queue
	waiting map[string]*flight // those in the queue, by turn id
	lobby
	decided uint64             // turns sent so far
	books   *route.Books       // what the router knows by its own doing
	seats   map[*seat]struct{} // that are taken
	booked  map[bookKey]*booking
	knobs   Knobs
	pruned  int64 // events that indexes which are gone could not place
	desk    desk
	warned  string // the last warning of a strategy that was logged
	warnAt  time.Time
	news    chan struct{} // closed when a member has changed; nil when nobody waits for that

	leases     *lease.Book                       // of all models; its lock is taken inside mu
	strategies map[string]route.Strategy         // that were used, by what route.New reads
	turned     []string                          // those of them with knobs, in the order in which they were made
	recall     func(of string, s route.Strategy) // gives a new one what was learnt before; may be nil
}

// desk is work memory of one decision, kept for the next.
type desk struct {
	candidates []route.Candidate
	overlaps   []cache.Overlap
	blockwise  bool // its rule looks at the blocks of running turns
}

// member is a worker as the server sees it. All but window is guarded by the
// model's mutex.
type member struct {
	worker Worker
	window *gauge.Window

	info    turn.WorkerInfo
	index   *cache.Index
	holder  cache.Holder
	chats   cache.Holder // of what its chats are taken to have left; 0 is none
	foreign int          // turns that others sent to an attached engine
	used    float64      // share of its KV cache that turns have, as it says
	slots   int          // how many an attached engine was seen to run at once; 0 unknown
	bound   int          // of pending, as route.Candidate has it
	loadAt  time.Time
	breaker route.Breaker
	quiet   time.Duration // how long nothing has come, though turns wait there
	drift   drift
}

// newModel returns a model without workers. behind keeps its raw turns.
func newModel(m Model, behind prompt.Shelf) *model {
	return &model{
		Model:   m,
		raw:     prompt.NewRaw(m.ID, rawBytes, behind),
		members: map[string]*member{},
		indexes: map[int]*cache.Index{},
		waiting: map[string]*flight{},
		seats:   map[*seat]struct{}{},
		booked:  map[bookKey]*booking{},
		books:   route.NewBooks(0),
		leases:  lease.New(lease.Options{}), // its own, until it is served

		strategies: map[string]route.Strategy{},
	}
}

// update takes a worker's state, adding the worker when it is new, and lets
// waiting turns go when it became ready.
func (m *model) update(w Worker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	info := w.Info() // read here, so that of two updates the later one has the newer state
	if info.State == turn.Gone {
		m.forget(info.Name)
		return
	}
	b := m.members[info.Name]
	if b == nil {
		b = &member{worker: w, window: gauge.NewWindow(windowSteps, time.Second)}
		m.members[info.Name] = b
	}
	if b.info.State != turn.Ready {
		b.breaker = route.Breaker{} // a new life, or a new chance
		for _, f := range m.waiting {
			delete(f.lost, info.Name)
		}
	}
	m.enter(b, info)
	b.worker, b.info = w, info
	b.bound = m.knobs.bound(info.Caps.MaxBatched)
	m.join(b)
	m.pump()
	m.tell()
}

// join gives a member its place in the index of its block size; mu must be
// held. A worker that came back with other blocks starts anew. An index that
// is full is gone without: its worker is then routed by load alone.
func (m *model) join(b *member) {
	block := b.info.Caps.BlockSize
	if block == 0 || b.index != nil && b.index.Block() == block {
		return
	}
	if b.index != nil {
		b.unassume()
		b.index.Drop(b.holder)
		b.index = nil
	}
	x := m.index(block)
	if h, err := x.Join(b.info.Name); err == nil {
		b.index, b.holder = x, h
	}
	m.prune()
}

// prune lets go of the indexes that no member is in, so that prompts are not
// hashed in sizes that nobody uses; mu must be held.
func (m *model) prune() {
	used := map[*cache.Index]bool{}
	for _, b := range m.members {
		used[b.index] = true
	}
	for block, x := range m.indexes {
		if !used[x] {
			m.pruned += x.Stats().Dropped()
			delete(m.indexes, block)
		}
	}
}

// index returns the index of a block size; mu must be held.
func (m *model) index(block int) *cache.Index {
	x := m.indexes[block]
	if x == nil {
		x = cache.NewIndex(block, cache.Options{})
		m.indexes[block] = x
	}
	return x
}

// leave forgets a worker and what it holds.
func (m *model) leave(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(name)
}

// forget is leave; mu must be held.
func (m *model) forget(name string) {
	b := m.members[name]
	if b == nil {
		return
	}
	if b.index != nil {
		b.unassume()
		b.index.Drop(b.holder)
	}
	delete(m.members, name)
	m.books.Gone(name)
	m.leases.Gone(name, name+" left")
	m.unlearn(name)
	m.prune()
	m.pump()
	m.tell()
}

// apply takes a worker's KV events into the index.
func (m *model) apply(batch turn.KVBatch) bool {
	m.mu.Lock()
	var x *cache.Index
	var h cache.Holder
	if b := m.members[batch.Worker]; b != nil {
		x, h = b.index, b.holder
		if restarted(batch.Events) {
			b.unassume()
		}
		if x != nil {
			m.evicted(batch, x.Block())
		}
	}
	m.mu.Unlock()
	if x == nil {
		return false
	}
	for _, ev := range batch.Events {
		x.Apply(h, ev)
	}
	return true
}

// blocks returns the block sizes in use.
func (m *model) blocks() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	sizes := make([]int, 0, 1)
	for size := range m.indexes {
		sizes = append(sizes, size)
	}
	return sizes
}

// context is the largest context of a worker that turns are taken for, in
// tokens; 0 when there is none.
func (m *model) context() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	most, now := 0, time.Now()
	for _, b := range m.members {
		if b.usable(now) {
			most = max(most, m.contextOf(b))
		}
	}
	return most
}

// contextOf is the context of a member: the model's own where the engine does
// not tell; mu must be held.
func (m *model) contextOf(b *member) int {
	own := m.Prompt.Context()
	if m.Stands != "" {
		own = 0
	}
	return cmp.Or(b.info.Caps.Context, own, usualContext)
}

// ready counts the workers that take turns.
func (m *model) ready() (ready, all int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.members {
		if b.info.State == turn.Ready {
			ready++
		}
	}
	return ready, len(m.members)
}

// generate sends a job to the seat's worker.
func (st *seat) generate(ctx context.Context, j turn.Job) (turn.Stream, error) {
	return st.worker.Generate(ctx, j)
}

// window is where a worker's figures go; one of its own when it left.
func (m *model) window(worker string) *gauge.Window {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.members[worker]; b != nil {
		return b.window
	}
	return gauge.NewWindow(1, time.Second)
}
