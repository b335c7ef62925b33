package cache

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxHolders is how many workers an index has room for; slots are twice as
	// many, since what a holder that was cleared held keeps its slot until it
	// is swept.
	maxHolders  = 2048
	holderBits  = 11
	slotWords   = 2 * maxHolders / 64
	maxSlots    = 64 * slotWords
	defaultCap  = 2 << 30
	smallestCap = 1 << 20
)

// ErrFull is in the chain when an index has no room for another holder.
var ErrFull = errors.New("index is full")

// Holder names a worker in one index. The zero Holder names nobody, and a
// Holder that was dropped never names another worker.
type Holder int

func (h Holder) place() int { return int(h) & (maxHolders - 1) }

// Options bound an index. Zero fields mean the defaults.
type Options struct {
	Model     string        // seeds block 0, with the salt; see Index.Seed
	MaxBytes  int           // of memory, default 2 GiB, at least 1 MiB; then old blocks go, see evict
	MaxBlocks int           // distinct blocks, default as many as fit; then new ones are refused
	Orphans   int           // stores that wait for their parent, per holder, default 256
	OrphanTTL time.Duration // how long they wait, default 5 s
	AssumeTTL time.Duration // how long a block is assumed that no turn used, default for ever

	// Now is the clock that expectations and waiting stores end by, default
	// time.Now; a simulation has its own.
	Now func() time.Time
}

// Index knows which worker holds which blocks. It is safe for concurrent use:
// those who ask wait for nobody; those who tell wait for each other.
type Index struct {
	block int
	opt   Options
	seed  uint64
	start time.Time

	// What readers look at.
	own    *table // by own hash
	nodes  *nodes
	sets   *interner
	slots  [maxSlots]atomic.Pointer[holder]
	swept  atomic.Int64 // slots that got another meaning
	expiry atomic.Int64 // when the next expectation or assumption ends, see since; 0 is never

	mu      sync.Mutex // guards the rest, and who writes to the above
	names   *table     // by engines' names
	mem     memory
	loose   int // bytes that are in no table: what waits, is expected or assumed
	holders [maxHolders]*holder
	by      map[string]Holder
	lives   [maxHolders]int // how often a place was given out
	vacant  []int           // slots that were swept
	slotted int             // slots ever given out
	sweep   sweep
	hand    uint32        // see evict
	due     []expectation // by deadline
	dueLen  int           // nodes in due
	ends    int64         // when the next assumption ends, see outlive; 0 is never
	keys    []uint64      // see place
	called  []uint64      // likewise
	near    uint32        // see fetch: a sum that nobody needs, but the compiler must not know
	work    []uint32      // see settle
	scratch []byte        // see next
	count   counts
}

// holder is what an index knows about one worker. Readers look at id and
// worker only.
type holder struct {
	id      Holder
	worker  string
	slot    int
	fed     bool            // events came; nothing is assumed any more
	blocks  int             // distinct blocks in any tier
	cached  [tierCount]int  // and by tier
	refs    flat[ref]       // by mixed name, where names are its own; see refs.go
	many    map[uint32]many // nodes with more than one of refs
	soon    map[uint32]int64
	parked  parked
	assumed *assumed // nil unless Assume was called
}

// NewIndex returns an empty index for blocks of the given number of tokens.
func NewIndex(block int, o Options) *Index {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultCap
	}
	o.MaxBytes = max(o.MaxBytes, smallestCap)
	if o.MaxBlocks <= 0 {
		o.MaxBlocks = maxNodes
	}
	if o.Orphans <= 0 {
		o.Orphans = 256
	}
	if o.OrphanTTL <= 0 {
		o.OrphanTTL = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	x := &Index{block: block, opt: o, seed: SaltSeed(o.Model, ""), start: o.Now(), by: map[string]Holder{}, sets: newInterner()}
	x.mem = memory{limit: int64(o.MaxBytes) / 16 * 15, regions: regions{new([][]byte)}}
	x.nodes = newNodes(&x.mem, x.sets)
	x.own, x.names = newTable(x.nodes, false), newTable(x.nodes, true)
	runtime.AddCleanup(x, unmap, x.mem.mapped)
	return x
}

// since is a time in nanoseconds from the start of the index, at least 1. A
// clock that is set back does not move it.
func (x *Index) since(t time.Time) int64 { return int64(max(1, t.Sub(x.start)+1)) }

// Block is the number of tokens in a block.
func (x *Index) Block() int { return x.block }

// Seed is the parent of block 0 for chains that this index can match.
func (x *Index) Seed(salt string) uint64 { return SaltSeed(x.opt.Model, salt) }

// Join gives a worker its place; a worker that is in keeps the one it has.
// ErrFull means that 2,048 others are in.
func (x *Index) Join(worker string) (Holder, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if h, ok := x.by[worker]; ok {
		return h, nil
	}
	for place, taken := range x.holders {
		if taken != nil {
			continue
		}
		x.lives[place]++
		o := &holder{
			id: Holder(x.lives[place]<<holderBits | place), worker: worker,
			soon: map[uint32]int64{},
		}
		x.holders[place] = o
		x.seat(o)
		x.by[worker] = o.id
		return o.id, nil
	}
	return 0, fmt.Errorf("index %s: %d workers: %w", worker, maxHolders, ErrFull)
}

// Drop forgets a worker and all it held.
func (x *Index) Drop(h Holder) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.holder(h)
	if o == nil {
		return
	}
	x.forgetAll(o)
	x.slots[o.slot].Store(nil)
	x.vacant = append(x.vacant, o.slot)
	x.swept.Add(1)
	x.holders[h.place()] = nil
	delete(x.by, o.worker)
}

// holder finds who h names, nil for nobody. mu must be held.
func (x *Index) holder(h Holder) *holder {
	if h < maxHolders {
		return nil
	}
	if o := x.holders[h.place()]; o != nil && o.id == h {
		return o
	}
	return nil
}
