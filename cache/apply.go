package cache

import (
	"time"

	"github.com/agentinfer/dyn/turn"
)

// tiers are the levels of a worker's cache, best first.
var tiers = [...]string{"gpu", "host", "disk", "remote"}

const tierCount = len(tiers)

// tierOf finds a tier's place; a name that we do not know is far away.
func tierOf(name string) int {
	if name == "" {
		return 0
	}
	for i, t := range tiers {
		if t == name {
			return i
		}
	}
	return tierCount - 1
}

// Apply takes one event of a worker in. Events of one worker must come in
// order; those of different workers may come at once, and wait for each other.
// What cannot be placed is counted, see Stats. The event is not kept, but its
// slices may be while it waits for its parent.
func (x *Index) Apply(h Holder, ev turn.KVEvent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.holder(h)
	if o == nil {
		return
	}
	now := x.opt.Now()
	if ev.Kind == turn.KVRestart { // a worker without events begins with one too
		x.dropOrphans(o, now)
		x.forgetAll(o)
		return
	}
	x.feed(o, now)
	switch ev.Kind {
	case turn.KVStored:
		x.store(o, ev, now)
	case turn.KVRemoved:
		for _, name := range ev.Hashes {
			x.remove(o, name, tierOf(ev.Tier))
		}
	case turn.KVCleared:
		x.clear(o)
	}
}

// Stored takes in that a worker stored the blocks of chain from a depth on,
// whose names are their own hashes: an event of an engine whose blocks are
// named as here, or of a simulated one. What is before them must be held;
// otherwise the store is counted as an orphan and lost. Removals of such blocks
// are events as any. The chain is not kept.
func (x *Index) Stored(h Holder, chain []uint64, from int, tier string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.holder(h)
	if o == nil || from < 0 || from >= len(chain) {
		return
	}
	x.feed(o, x.opt.Now())
	parent := uint32(0)
	if from > 0 {
		r, _ := x.ref(o, mix(chain[from-1]))
		if parent = r.node; parent == 0 {
			x.count.orphans++
			return
		}
	}
	x.keys = mixAll(x.keys[:0], chain[from:])
	x.enter(o, x.keys, x.keys, parent, tierOf(tier))
}

// feed is what comes before each event.
func (x *Index) feed(o *holder, now time.Time) {
	if !o.fed {
		o.fed = true
		if o.assumed != nil {
			x.clear(o)
		}
	}
	x.expire(x.since(now), sweepAtOnce)
	x.sweepSome(sweepOften)
	x.dropOrphans(o, now)
}

// store places a store and the orphans that it makes placeable.
func (x *Index) store(o *holder, ev turn.KVEvent, now time.Time) {
	if len(ev.Tokens) == 0 {
		x.storeKnown(o, ev)
		return
	}
	if ev.BlockSize != x.block || len(ev.Tokens) != len(ev.Hashes)*x.block {
		x.count.misfit++
		return
	}
	if ev.HasParent {
		if r, _ := x.ref(o, mix(ev.Parent)); r.node == 0 {
			x.park(o, ev, now)
			return
		}
	}
	x.place(o, ev)
	for ready := x.unpark(o, ev.Hashes); len(ready) > 0; {
		next := ready[0]
		ready = ready[1:]
		x.place(o, next)
		ready = append(ready, x.unpark(o, next.Hashes)...)
	}
}

// place enters the blocks of a store whose parent is known.
func (x *Index) place(o *holder, ev turn.KVEvent) {
	parent, hash := uint32(0), x.seed
	if ev.HasParent {
		r, _ := x.ref(o, mix(ev.Parent))
		if parent = r.node; parent == 0 {
			x.count.orphans++
			return
		}
		hash = unmix(x.nodes.hash(parent))
	} else if ev.Salt != "" {
		hash = x.Seed(ev.Salt)
	}
	x.keys = x.keys[:0]
	for i := range ev.Hashes {
		hash = next(&x.scratch, hash, ev.Tokens[i*x.block:(i+1)*x.block])
		x.keys = append(x.keys, mix(hash))
	}
	x.called = mixAll(x.called[:0], ev.Hashes)
	x.enter(o, x.keys, x.called, parent, tierOf(ev.Tier))
}

// storeKnown adds a tier to blocks that the engine names without tokens.
func (x *Index) storeKnown(o *holder, ev turn.KVEvent) {
	tier := tierOf(ev.Tier)
	for _, name := range ev.Hashes {
		r, _ := x.ref(o, mix(name))
		if r.node == 0 {
			x.count.unknown++
			continue
		}
		x.hold(o, mix(name), r.node, tier)
	}
}

// remove notes one copy less of a block.
func (x *Index) remove(o *holder, name uint64, tier int) {
	r, own := x.ref(o, mix(name))
	if r.node != 0 && r.copies[tier] != 0 {
		x.lose(o, mix(name), r, own, tier)
		return
	}
	found, lost := x.cutParked(o, name)
	if lost {
		x.count.orphans++
	}
	if !found {
		x.count.unknown++
	}
}
