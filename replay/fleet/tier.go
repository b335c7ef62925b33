package fleet

import (
	"math"
	"time"
)

// Saving is what a worker copies to its host memory.
type Saving string

// The ways. The zero value is no host tier.
const (
	WriteBack    Saving = "write-back"    // what is evicted
	WriteThrough Saving = "write-through" // what every request that ends has
	SaveAsked    Saving = "asked"         // of requests that ask for it (Request.Save)
)

// Tier is the host memory of a worker: blocks by their hashes, of which the one
// stored or loaded longest ago makes room. It has one link, over which blocks
// are loaded one prompt after the other while others are computed.
type Tier struct {
	pool   *Pool
	saving Saving
	token  float64 // ms to load one
	link   time.Duration
	Loads  int64 // tokens
	Saves  int64 // blocks
}

// NewTier returns an empty tier of n blocks; token is the ms that loading one
// takes.
func NewTier(n int, s Saving, token float64) *Tier {
	return &Tier{pool: NewPool(max(n, 1)), saving: s, token: token}
}

// Host gives the worker a host tier, before its first request.
func (w *Worker) Host(t *Tier) { w.tier = t }

// HostDepth is how many blocks of a chain, from one on, the host tier has.
func (w *Worker) HostDepth(chain []uint64, from int) (n int) {
	if w.tier == nil {
		return 0
	}
	for from+n < len(chain) && w.tier.has(chain[from+n]) {
		n++
	}
	return n
}

func (t *Tier) has(hash uint64) bool {
	_, ok := t.pool.by.get(hash)
	return ok
}

// put stores blocks, the first of them to go first.
func (t *Tier) put(hash uint64, now time.Duration) {
	p := t.pool
	s, ok := p.by.get(hash)
	if ok {
		p.unlink(s)
		p.link(s, p.cells[0].prev)
		return
	}
	var one [1]Slot
	p.Take(one[:0], 1, now)
	s = one[0]
	p.fill(s, hash)
	p.Release(one[:], now)
	p.gone = p.gone[:0]
	t.Saves++
}

// evicted takes what the GPU gave up.
func (t *Tier) evicted(gone []uint64, now time.Duration) {
	if t == nil || t.saving != WriteBack {
		return
	}
	for _, h := range gone {
		t.put(h, now)
	}
}

// ended takes what a request that ended has, its end first.
func (t *Tier) ended(r *Request, block int, now time.Duration) {
	if t == nil || t.saving != WriteThrough && (t.saving != SaveAsked || !r.Save) {
		return
	}
	for i := min(r.Prompt/block, r.known()) - 1; i >= 0; i-- {
		t.put(r.hash(i), now)
	}
}

// load finds how many blocks of a request behind those found are in the tier,
// up to a limit, and puts their loading on the link.
func (t *Tier) load(r *Request, found, limit, block int, now time.Duration) (n int) {
	if t == nil {
		return 0
	}
	for found+n < limit && t.has(r.hash(found+n)) {
		n++
	}
	if n > 0 {
		t.link = max(t.link, now) + duration(t.token*float64(n*block))
		r.ready = t.link
		t.Loads += int64(n * block)
		for i := found + n - 1; i >= found; i-- { // they were used
			t.put(r.hash(i), now)
		}
	}
	return n
}

// loading is when the first of the running requests that load is ready; false
// where none loads.
func (w *Worker) loading(now time.Duration) (first time.Duration, some bool) {
	first = math.MaxInt64
	for _, r := range w.running {
		if r.prefilling() && r.ready > now {
			first, some = min(first, r.ready), true
		}
	}
	return first, some
}

// wake plans an end of steps for when the next request is loaded: those that
// decode are cut there, and a worker without any waits for it.
func (w *Worker) wake(now time.Duration) {
	if w.tier == nil {
		return
	}
	at, some := w.loading(now)
	switch {
	case !some:
	case !w.stepping:
		w.stepping, w.idle = true, true
		w.base, w.growth, w.steps = float64(at-now)/float64(time.Millisecond), 0, 1
	default:
		for k := 1; k < w.steps; k++ {
			if w.after(k) >= at {
				w.steps = k
				break
			}
		}
	}
}
