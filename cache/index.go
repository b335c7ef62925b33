package cache

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxHolders = 64
	slotBits   = 6
)

// ErrFull is in the chain when an index has no room for another holder.
var ErrFull = errors.New("index is full")

// Holder names a worker in one index. The zero Holder names nobody, and a
// Holder that was dropped never names another worker.
type Holder int

func (h Holder) slot() int { return int(h) & (maxHolders - 1) }

// Options bound an index. Zero fields mean the defaults.
type Options struct {
	Model     string        // seeds block 0, with the salt; see Index.Seed
	MaxBlocks int           // distinct blocks, default 4 Mi (100 bytes each and 36 a holder)
	Orphans   int           // stores that wait for their parent, per holder, default 256
	OrphanTTL time.Duration // how long they wait, default 5 s

	// Now is the clock that expectations and waiting stores end by, default
	// time.Now; a simulation has its own.
	Now func() time.Time
}

// Index knows which worker holds which blocks. It is safe for concurrent use.
type Index struct {
	block  int
	opt    Options
	seed   uint64
	expiry atomic.Int64 // when the next expectation ends, Unix ns; 0 is never

	mu       sync.RWMutex // guards the rest
	nodes    nodes
	holders  [maxHolders]*holder
	names    map[string]Holder
	lives    [maxHolders]int // how often a slot was given out
	due      []expectation   // by deadline
	dueNodes int             // nodes in due
	work     []uint32        // see settle
	scratch  []byte          // see next
	count    counts
}

// holder is what an index knows about one worker.
type holder struct {
	id      Holder
	bit     uint64 // 1 << slot
	worker  string
	fed     bool             // events came; nothing is assumed any more
	refs    map[uint64]ref   // by engine hash
	alias   map[alias]int    // further engine hashes of a block that is held already
	cached  [tierCount]int   // blocks by tier
	soon    map[uint32]int64 // expected nodes, until when
	parked  parked
	assumed *assumed // nil unless Assume was called
}

// NewIndex returns an empty index for blocks of the given number of tokens.
func NewIndex(block int, o Options) *Index {
	if o.MaxBlocks <= 0 {
		o.MaxBlocks = 4 << 20
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
	return &Index{
		block: block, opt: o, seed: SaltSeed(o.Model, ""),
		nodes: newNodes(o.MaxBlocks), names: map[string]Holder{},
	}
}

// Block is the number of tokens in a block.
func (x *Index) Block() int { return x.block }

// Seed is the parent of block 0 for chains that this index can match.
func (x *Index) Seed(salt string) uint64 { return SaltSeed(x.opt.Model, salt) }

// Join gives a worker its place; a worker that is in keeps the one it has.
// ErrFull means that 64 others are in.
func (x *Index) Join(worker string) (Holder, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if h, ok := x.names[worker]; ok {
		return h, nil
	}
	for slot, taken := range x.holders {
		if taken != nil {
			continue
		}
		x.lives[slot]++
		id := Holder(x.lives[slot]<<slotBits | slot)
		x.holders[slot] = &holder{
			id: id, bit: 1 << slot, worker: worker,
			refs: map[uint64]ref{}, alias: map[alias]int{}, soon: map[uint32]int64{},
		}
		x.names[worker] = id
		return id, nil
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
	x.holders[h.slot()] = nil
	delete(x.names, o.worker)
}

// holder finds who h names, nil for nobody. mu must be held.
func (x *Index) holder(h Holder) *holder {
	if h < maxHolders {
		return nil
	}
	if o := x.holders[h.slot()]; o != nil && o.id == h {
		return o
	}
	return nil
}
