package cache

import "sort"

// assumed is what a worker without events is taken to hold: the blocks of the
// turns sent there, as many as fit, least recently used out first.
//
// A block is used whenever one behind it is, so the least recently used block
// is always a leaf, and only ends of chains need a stamp: a block that becomes
// a leaf takes over the stamp of the last one behind it.
type assumed struct {
	of    map[uint32]use
	order stamps // leaves, but for next; entries may be stale
	next  stamp  // a leaf that is no younger than those in order; may be stale, or none
	clock uint64
}

type use struct {
	stamp uint64
	kids  int // assumed nodes right behind it
}

type stamp struct {
	at   uint64
	node uint32
}

// stamps is a heap, the oldest first. Its own steps box no entry, as those of
// container/heap do: blocks come and go by the hundred with each turn.
type stamps []stamp

func (s *stamps) push(x stamp) {
	*s = append(*s, x)
	h, i := *s, len(*s)-1
	for i > 0 && x.at < h[(i-1)/2].at {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = x
}

// pop takes out the oldest; there must be one.
func (s *stamps) pop() (oldest stamp) {
	h := *s
	oldest = h[0]
	last := len(h) - 1
	x := h[last]
	h = h[:last]
	*s = h
	i := 0
	for 2*i+1 < last {
		kid := 2*i + 1
		if kid+1 < last && h[kid+1].at < h[kid].at {
			kid++
		}
		if x.at <= h[kid].at {
			break
		}
		h[i] = h[kid]
		i = kid
	}
	if last > 0 {
		h[i] = x
	}
	return oldest
}

// DefaultRoom is how many blocks a worker is taken to have room for when it
// does not tell.
const DefaultRoom = 16 << 10

// Assume notes that a turn with this chain went to a worker that sends no
// events and has room for capBlocks blocks, DefaultRoom when that is 0. Once a
// worker's events come, they replace what was assumed, and Assume does
// nothing. The chain is not kept.
func (x *Index) Assume(h Holder, chain []uint64, capBlocks int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if capBlocks <= 0 {
		capBlocks = DefaultRoom
	}
	o := x.holder(h)
	chain = chain[:min(len(chain), capBlocks)]
	if o == nil || o.fed || len(chain) == 0 {
		return
	}
	if o.assumed == nil {
		o.assumed = &assumed{of: map[uint32]use{}}
	}
	a := o.assumed
	a.clock++
	depth := sort.Search(len(chain), func(i int) bool {
		n := x.nodes.find(chain[i])
		return n == nil || n.gpu&o.bit == 0
	})
	end := uint32(0)
	if depth > 0 {
		end = x.nodes.at[chain[depth-1]]
	}
	for _, hash := range chain[depth:] {
		n := x.nodes.put(hash, end)
		if n == 0 {
			x.count.refused++
			break
		}
		x.assumeNode(o, n, end)
		end = n
	}
	if end == 0 {
		return
	}
	a.touch(end, a.clock)
	for len(a.of) > capBlocks && x.evict(o) {
	}
}

// assumeNode adds one block behind parent.
func (x *Index) assumeNode(o *holder, n, parent uint32) {
	if u, ok := o.assumed.of[parent]; ok {
		u.kids++
		o.assumed.of[parent] = u
	}
	o.assumed.of[n] = use{}
	o.cached[0]++
	k := x.nodes.node(n)
	k.gpu |= o.bit
	k.soon &^= o.bit
	delete(o.soon, n)
	x.settle(n, o.bit)
}

// touch stamps the end of a chain.
func (a *assumed) touch(n uint32, at uint64) {
	u := a.of[n]
	u.stamp = max(u.stamp, at)
	a.of[n] = u
	if u.kids > 0 {
		return
	}
	a.order.push(stamp{u.stamp, n})
	if len(a.order) > 2*len(a.of)+64 {
		a.rebuild()
	}
}

// rebuild leaves only entries that count.
func (a *assumed) rebuild() {
	a.order, a.next = a.order[:0], stamp{}
	for n, u := range a.of {
		if u.kids == 0 {
			a.order.push(stamp{u.stamp, n})
		}
	}
}

// evict drops the least recently used block; false means that there is none.
func (x *Index) evict(o *holder) bool {
	a := o.assumed
	for a.next.node != 0 || len(a.order) > 0 {
		s := a.next
		if a.next = (stamp{}); s.node == 0 {
			s = a.order.pop()
		}
		u, ok := a.of[s.node]
		if !ok || u.kids > 0 || u.stamp != s.at {
			continue
		}
		parent := x.nodes.node(s.node).parent
		x.unassumeNode(o, s.node)
		if p, ok := a.of[parent]; ok {
			p.kids--
			a.of[parent] = p
			a.bared(parent, p, s.at)
		}
		return true
	}
	return false
}

// bared notes that a block has lost one behind it, whose stamp was the oldest.
// Most often it is the next to go, and does not pass through the heap.
func (a *assumed) bared(n uint32, u use, at uint64) {
	if u.kids > 0 || u.stamp > at {
		a.touch(n, at)
		return
	}
	u.stamp = at
	a.of[n] = u
	a.next = stamp{at, n}
}

func (x *Index) unassumeNode(o *holder, i uint32) {
	delete(o.assumed.of, i)
	o.cached[0]--
	x.nodes.node(i).gpu &^= o.bit
	x.settle(i, o.bit)
	x.nodes.prune(i)
}

// unassume drops all that was assumed about a holder.
func (x *Index) unassume(o *holder) {
	if o.assumed == nil {
		return
	}
	for x.evict(o) {
	}
	o.assumed = nil
}
