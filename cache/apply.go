package cache

import (
	"math"
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

// ref is what a holder's engine hash stands for: a node, and how many copies
// of it lie in each tier.
type ref struct {
	node   uint32
	copies [tierCount]uint8
}

func (r *ref) lower() bool { return r.copies[1]|r.copies[2]|r.copies[3] != 0 }

// alias counts engine hashes beyond the first that stand for one node; lower
// says in which of the node's two sets.
type alias struct {
	node  uint32
	lower bool
}

// Apply takes one event of a worker in. Events of one worker must come in
// order. What cannot be placed is counted, see Stats. The event is not kept,
// but its slices may be while it waits for its parent.
func (x *Index) Apply(h Holder, ev turn.KVEvent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.holder(h)
	if o == nil {
		return
	}
	if !o.fed && ev.Kind != turn.KVRestart { // each life begins with one, also where no other event follows
		o.fed = true
		x.unassume(o)
	}
	now := x.opt.Now()
	x.dropOrphans(o, now)
	switch ev.Kind {
	case turn.KVStored:
		x.store(o, ev, now)
	case turn.KVRemoved:
		for _, hash := range ev.Hashes {
			x.remove(o, hash, tierOf(ev.Tier))
		}
	case turn.KVCleared:
		x.clear(o)
	case turn.KVRestart:
		x.forgetAll(o)
	}
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
		if _, ok := o.refs[ev.Parent]; !ok {
			x.park(o, ev, now)
			return
		}
	}
	x.place(o, ev)
	for ready := o.parked.release(ev.Hashes); len(ready) > 0; {
		next := ready[0]
		ready = ready[1:]
		x.place(o, next)
		ready = append(ready, o.parked.release(next.Hashes)...)
	}
}

// place enters the blocks of a store whose parent is known.
func (x *Index) place(o *holder, ev turn.KVEvent) {
	parent, hash := uint32(0), x.seed
	if ev.HasParent {
		parent = o.refs[ev.Parent].node
		if parent == 0 {
			x.count.orphans++
			return
		}
		hash = x.nodes.node(parent).hash
	} else if ev.Salt != "" {
		hash = x.Seed(ev.Salt)
	}
	tier := tierOf(ev.Tier)
	for i, engine := range ev.Hashes {
		hash = next(&x.scratch, hash, ev.Tokens[i*x.block:(i+1)*x.block])
		if parent = x.nodes.put(hash, parent); parent == 0 {
			x.count.refused++
			return
		}
		x.hold(o, engine, parent, tier)
	}
}

// storeKnown adds a tier to blocks that the engine names without tokens.
func (x *Index) storeKnown(o *holder, ev turn.KVEvent) {
	tier := tierOf(ev.Tier)
	for _, engine := range ev.Hashes {
		r, ok := o.refs[engine]
		if !ok {
			x.count.unknown++
			continue
		}
		x.hold(o, engine, r.node, tier)
	}
}

// hold notes one more copy of a block.
func (x *Index) hold(o *holder, engine uint64, i uint32, tier int) {
	r, known := o.refs[engine]
	if known && r.node != i {
		// The engine uses the hash for another block now; it must have lost
		// the old one without a word. The old node goes last: this one may
		// hang by it.
		x.count.misfit++
		x.release(o, engine, r)
		defer x.nodes.prune(r.node)
		r = ref{}
	}
	r.node = i
	if r.copies[tier] == math.MaxUint8 {
		return // removed too early is better than never
	}
	had, lower := r.copies[0] != 0, r.lower()
	r.copies[tier]++
	o.refs[engine] = r
	if r.copies[tier] == 1 {
		o.cached[tier]++
	}
	n := x.nodes.node(i)
	set, first := &n.gpu, !had
	if tier > 0 {
		set, first = &n.low, !lower
	}
	if first && *set&o.bit != 0 {
		o.alias[alias{i, tier > 0}]++
	}
	*set |= o.bit
	n.soon &^= o.bit
	delete(o.soon, i)
	x.settle(i, o.bit)
}

// remove notes one copy less of a block.
func (x *Index) remove(o *holder, engine uint64, tier int) {
	r, ok := o.refs[engine]
	if !ok || r.copies[tier] == 0 {
		found, lost := o.parked.cut(engine)
		if lost {
			x.count.orphans++
		}
		if !found {
			x.count.unknown++
		}
		return
	}
	r.copies[tier]--
	if r.copies[tier] > 0 {
		o.refs[engine] = r
		return
	}
	o.cached[tier]--
	if tier == 0 {
		x.unset(o, r.node, false)
	} else if !r.lower() {
		x.unset(o, r.node, true)
	}
	if r.copies == [tierCount]uint8{} {
		delete(o.refs, engine)
		x.nodes.prune(r.node)
		return
	}
	o.refs[engine] = r
}

// release takes back all that an engine hash stands for; its node is not
// pruned yet.
func (x *Index) release(o *holder, engine uint64, r ref) {
	for t, c := range r.copies {
		if c > 0 {
			o.cached[t]--
		}
	}
	if r.copies[0] > 0 {
		x.unset(o, r.node, false)
	}
	if r.lower() {
		x.unset(o, r.node, true)
	}
	delete(o.refs, engine)
}

// unset takes a holder out of one of a node's sets, unless another engine hash
// keeps it there.
func (x *Index) unset(o *holder, i uint32, lower bool) {
	k := alias{i, lower}
	if c := o.alias[k]; c > 1 {
		o.alias[k] = c - 1
		return
	} else if c == 1 {
		delete(o.alias, k)
		return
	}
	n := x.nodes.node(i)
	if lower {
		n.low &^= o.bit
	} else {
		n.gpu &^= o.bit
	}
	x.settle(i, o.bit)
}
