package cache

import (
	"slices"
	"sort"
	"time"
)

// maxSoon bounds the blocks that a holder is expected to store, maxDue those
// of all expectations together, a block counted once for each.
const (
	maxSoon = 1 << 17
	maxDue  = 1 << 22
)

// ExpectTTL is how long a routed turn's blocks should be expected.
const ExpectTTL = 5 * time.Second

// expectation is one call of Expect that has not run out.
type expectation struct {
	until int64 // Unix ns
	h     Holder
	nodes []uint32
}

// Expect counts the blocks of chain as held by h for ttl, or until its events
// tell more about them: a turn was sent there, and its like should follow
// before the engine says that it stored the blocks. A burst of more than 128
// Ki expected blocks is cut and counted. The chain is not kept.
func (x *Index) Expect(h Holder, chain []uint64, ttl time.Duration) {
	x.expire()
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.holder(h)
	if o == nil || len(chain) == 0 || ttl <= 0 {
		return
	}
	until := x.opt.Now().Add(ttl).UnixNano()
	e := expectation{until: until, h: h}
	parent := uint32(0)
	for i := x.sureDepth(o, chain, &parent); i < len(chain); i++ {
		n := uint32(0)
		if len(o.soon) < maxSoon && x.dueNodes+len(e.nodes) < maxDue {
			n = x.nodes.put(chain[i], parent)
		}
		if n == 0 {
			x.count.refused++
			break
		}
		if x.nodes.node(n).held()&o.bit == 0 || o.soon[n] != 0 {
			o.soon[n] = max(until, o.soon[n])
			x.nodes.node(n).soon |= o.bit
			x.settle(n, o.bit)
			if e.nodes == nil {
				e.nodes = make([]uint32, 0, min(len(chain)-i, maxSoon))
			}
			e.nodes = append(e.nodes, n)
		}
		parent = n
	}
	if len(e.nodes) > 0 {
		x.wait(e)
	}
}

// sureDepth is how many blocks of chain a holder has for certain, so that
// nothing need be expected of them; parent becomes the last one's node.
func (x *Index) sureDepth(o *holder, chain []uint64, parent *uint32) int {
	depth := sort.Search(len(chain), func(i int) bool {
		n := x.nodes.find(chain[i])
		return n == nil || n.wholeGPU&o.bit == 0
	})
	if depth > 0 {
		*parent = x.nodes.at[chain[depth-1]]
	}
	return depth
}

// wait puts an expectation in its place by deadline.
func (x *Index) wait(e expectation) {
	at := len(x.due)
	for at > 0 && x.due[at-1].until > e.until {
		at--
	}
	x.due = slices.Insert(x.due, at, e)
	x.dueNodes += len(e.nodes)
	x.expiry.Store(x.due[0].until)
}

// expire ends the expectations whose time is over. mu must not be held.
func (x *Index) expire() {
	now := x.opt.Now().UnixNano()
	if next := x.expiry.Load(); next == 0 || now < next {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for ; n < len(x.due) && x.due[n].until <= now; n++ {
		x.dueNodes -= len(x.due[n].nodes)
		if o := x.holder(x.due[n].h); o != nil {
			x.unexpect(o, x.due[n].nodes, now)
		}
	}
	x.due = slices.Delete(x.due, 0, n)
	x.expiry.Store(0)
	if len(x.due) > 0 {
		x.expiry.Store(x.due[0].until)
	}
}

// unexpect takes back what an expectation claimed and no later one does. The
// deepest block goes first, so that each is settled once.
func (x *Index) unexpect(o *holder, list []uint32, now int64) {
	for _, i := range slices.Backward(list) {
		until, ok := o.soon[i]
		if !ok || until > now {
			continue
		}
		delete(o.soon, i)
		x.nodes.node(i).soon &^= o.bit
		x.settle(i, o.bit)
		x.nodes.prune(i)
	}
}
