package lease

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/cache/pause"
	"github.com/agentinfer/dyn/cache/worth"
)

// The bounds of a Book.
const (
	Most       = 10_000 // leases
	lineMost   = 64     // leases of a line
	tenantPart = 2      // a tenant with a name has one of so many parts of the leases and of a worker's budget
)

// DefaultBudget is the share of a worker's KV cache that leases may take.
const DefaultBudget = 0.30

// Options say how a Book works. Zero values mean the defaults.
type Options struct {
	Budget float64    // share of a worker's KV cache; default DefaultBudget, below 0 none
	Cost   worth.Cost // of tokens; default worth.DefaultCost
	// Return is the probability that a line comes back in time that has been
	// away for so long, for what Rests said; nil is worth.Fades. It is called with
	// the book's lock held and must not call the book.
	Return func(away pause.Key, idle time.Duration) float64
}

// Book holds the leases of all lines; New makes it.
type Book struct {
	o     Options
	alive atomic.Int64 // lines with leases or pins

	mu      sync.Mutex // guards all below
	live    map[key]*entry
	workers map[string]*worker
	lines   map[Line]*line
	tenants map[string]int    // leases of each
	told    map[Line]Effect   // what the router was told
	dirty   map[Line]struct{} // of which it has to be told
	news    []Lease
	count   Counts
}

// key is a prefix at a worker.
type key struct{ id, worker string }

// entry is a lease with its place in the budget.
type entry struct {
	Lease
	at     *worker
	lines  []*line
	parent *entry // the prefix of it that is leased there too
	kids   int    // leases that this one is the parent of
	own    int    // tokens that it takes of the budget beside its parent
	in     bool   // the budget counts it
	stale  bool   // no prompt of its line holds it any more
	left   string // why its last line let go of it
}

// line is what an agent holds.
type line struct {
	Line
	held   []*entry
	pin    *pin
	away   pause.Key // what it is away for
	rested time.Time // since when; zero while it has a turn
}

// worker is what is leased at one.
type worker struct {
	name    string
	kv      int // tokens of its KV cache; 0 unknown
	used    int // of the budget
	entries map[*entry]struct{}
	tenants map[string]int // tokens of each with a name
}

// New returns an empty book.
func New(o Options) *Book {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.Cost == (worth.Cost{}) {
		o.Cost = worth.DefaultCost
	}
	if o.Return == nil {
		o.Return = func(_ pause.Key, idle time.Duration) float64 { return worth.Fades(idle.Seconds()) }
	}
	return &Book{
		o: o, live: map[key]*entry{}, workers: map[string]*worker{}, lines: map[Line]*line{},
		tenants: map[string]int{}, told: map[Line]Effect{}, dirty: map[Line]struct{}{},
	}
}

// Empty reports whether nobody has leases or pins. It takes no lock.
func (b *Book) Empty() bool { return b.alive.Load() == 0 }

// Use tells of a turn that was placed at a worker: its marks are asked, and what
// its line had is used.
func (b *Book) Use(now time.Time, t Turn) Used {
	if len(t.Marks) == 0 && b.Empty() {
		return Used{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	ln := b.lines[t.Line]
	if ln == nil {
		if len(t.Marks) == 0 {
			return Used{}
		}
		ln = b.line(t.Line)
	}
	ln.rested = time.Time{}
	asks := ln.asks(now, &t)
	b.count.Asked += int64(len(asks))
	u := Used{Due: make([]Due, 0, len(ln.held))}
	asks, left := b.follow(now, ln, &t, asks, &u)
	var mine []*entry
	for i := range asks {
		var parent *entry
		if i > 0 {
			parent = mine[i-1]
		}
		mine = append(mine, b.ask(now, ln, &t, &asks[i], parent))
	}
	for _, e := range left {
		if !slices.Contains(mine, e) {
			b.release(ln, e, "")
		}
	}
	b.fit(now, b.worker(t.Worker), mine)
	for _, e := range mine {
		u.Leases = append(u.Leases, e.view())
		b.tell(e)
	}
	b.touch(ln.Line)
	b.settle(ln)
	return u
}

// Rests notes that a line's turn has ended, and what it is away for: what it
// holds is worth as much as it is likely to come back for.
func (b *Book) Rests(now time.Time, l Line, away pause.Key) {
	if b.Empty() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if ln := b.lines[l]; ln != nil {
		ln.away, ln.rested = away, now
	}
}

// ask is a mark of a turn, or a lease of before that it renews.
type ask struct {
	Mark
	id    string
	hash  uint64
	since *entry // the lease that it goes on from, the deepest where there are several
}

// asks are the turn's marks, with that of the line's pin, by their depth and
// each prefix once.
func (ln *line) asks(now time.Time, t *Turn) []ask {
	asks := make([]ask, 0, len(t.Marks)+1)
	add := func(m Mark) {
		m.Tokens, m.By = min(m.Tokens, t.Prompt), cmp.Or(m.By, ByClient)
		if m.TTL > 0 && m.Tokens > 0 {
			a := ask{Mark: m}
			a.hash = t.hash(m.Tokens)
			a.id = ID(t.Line, a.hash, m.Tokens)
			asks = append(asks, a)
		}
	}
	for _, m := range t.Marks {
		add(m)
	}
	if p := ln.pin; p != nil && p.ends.After(now) {
		p.ends = now.Add(p.ttl) // used
		add(Mark{Tokens: t.Prompt, TTL: p.ttl, By: ByPin})
	}
	slices.SortStableFunc(asks, func(a, b ask) int { return cmp.Compare(a.Tokens, b.Tokens) })
	n := 0
	for i := range asks {
		if n > 0 && asks[n-1].id == asks[i].id {
			asks[n-1].join(asks[i].Mark)
			continue
		}
		asks[n] = asks[i]
		n++
	}
	return asks[:n]
}

// join takes another ask for the same prefix in.
func (m *Mark) join(o Mark) {
	m.TTL, m.Weight = max(m.TTL, o.TTL), max(m.Weight, o.Weight)
	if o.By == ByPin {
		m.By = ByPin
	}
}

// hash is the chain hash of the last whole block within so many tokens; 0 where
// there is none.
func (t *Turn) hash(tokens int) uint64 {
	if n := blocks(tokens, t.Block); n > 0 && n <= len(t.Chain) {
		return t.Chain[n-1]
	}
	return 0
}

// has reports whether the turn's prompt begins with what is leased. Where that
// has no hash its line is believed.
func (t *Turn) has(e *entry) bool {
	return e.Tokens <= t.Prompt && (e.Hash == 0 || e.Block == t.Block && t.hash(e.Tokens) == e.Hash)
}

// blocks is how many whole blocks lie in so many tokens.
func blocks(tokens, block int) int {
	if block <= 0 {
		return 0
	}
	return tokens / block
}

// line returns the line of a name, which is new where there was none.
func (b *Book) line(l Line) *line {
	ln := b.lines[l]
	if ln == nil {
		ln = &line{Line: l}
		b.lines[l] = ln
		b.alive.Add(1)
	}
	return ln
}

// settle forgets a line that has nothing.
func (b *Book) settle(ln *line) {
	if len(ln.held) == 0 && ln.pin == nil && b.lines[ln.Line] == ln {
		delete(b.lines, ln.Line)
		b.alive.Add(-1)
	}
}

// view is what others see of a lease.
func (e *entry) view() Lease {
	l := e.Lease
	l.Lines = len(e.lines)
	return l
}
