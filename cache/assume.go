package cache

import "math"

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

// assumedSize is what an assumed block takes in the books here, as bytes go.
const assumedSize = 64

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
	now := x.since(x.opt.Now())
	x.expire(now, sweepAtOnce)
	x.sweepSome(sweepOften)
	o := x.holder(h)
	chain = chain[:min(len(chain), capBlocks)]
	if o == nil || o.fed || len(chain) == 0 {
		return
	}
	if o.assumed == nil {
		o.assumed = &assumed{of: map[uint32]use{}}
	}
	a := o.assumed
	a.clock = max(a.clock+1, uint64(now))
	depth, end := x.depth(o, chain, func(s *sets) bool { return s.has(0, o.slot) })
	for _, hash := range chain[depth:] {
		n := x.put(mix(hash), end)
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
	for len(a.of) > capBlocks && x.evictAssumed(o, math.MaxUint64) {
	}
	if x.opt.AssumeTTL > 0 {
		if x.ends == 0 {
			x.ends = now + int64(x.opt.AssumeTTL)
		}
		x.setExpiry()
	}
}

// assumeNode adds one block behind parent.
func (x *Index) assumeNode(o *holder, n, parent uint32) {
	if u, ok := o.assumed.of[parent]; ok {
		u.kids++
		o.assumed.of[parent] = u
	}
	o.assumed.of[n] = use{}
	x.loose += assumedSize
	x.nodes.rest(n)[nodeParent] |= isYoung
	held, _ := x.nodes.of(n).held(o.slot)
	x.change(o, n, held|1)
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

// evictAssumed drops the least recently used block unless it was used after
// last; false means that there is none.
func (x *Index) evictAssumed(o *holder, last uint64) bool {
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
		if s.at > last {
			a.order.push(s)
			return false
		}
		x.unassumeNode(o, s.node)
		return true
	}
	return false
}

// unassumeNode takes out a block that none is assumed behind.
func (x *Index) unassumeNode(o *holder, id uint32) {
	x.unassumeLeaf(o, id)
	held, _ := x.nodes.of(id).held(o.slot)
	x.change(o, id, held&^1)
	x.prune(id)
}

// unassumeLeaf takes it out of the books.
func (x *Index) unassumeLeaf(o *holder, id uint32) {
	if o.assumed == nil {
		return
	}
	a := o.assumed
	u, ok := a.of[id]
	if !ok {
		return
	}
	delete(a.of, id)
	x.loose -= assumedSize
	parent := x.nodes.parent(id)
	if p, ok := a.of[parent]; ok {
		p.kids--
		a.of[parent] = p
		a.bared(parent, p, u.stamp)
	}
}

// bared notes that a block has lost one behind it, whose stamp was the oldest.
// Most often it is the next to go, and does not pass through the heap.
func (a *assumed) bared(n uint32, u use, at uint64) {
	if u.kids > 0 || u.stamp > at || a.next.node != 0 {
		a.touch(n, max(at, u.stamp))
		return
	}
	u.stamp = at
	a.of[n] = u
	a.next = stamp{at, n}
}

// outlive drops the assumed blocks that no turn used for AssumeTTL.
func (x *Index) outlive(now int64, most int) {
	if x.ends == 0 || now < x.ends {
		return
	}
	x.ends = 0
	ttl := int64(x.opt.AssumeTTL)
	for _, o := range x.holders {
		if o == nil || o.assumed == nil {
			continue
		}
		for most > 0 && now > ttl && x.evictAssumed(o, uint64(now-ttl)) {
			most--
		}
		if at, ok := o.assumed.oldest(); ok {
			if end := int64(at) + ttl; x.ends == 0 || end < x.ends {
				x.ends = end
			}
		}
	}
}

// oldest is the stamp of the block that goes next, or an older one.
func (a *assumed) oldest() (uint64, bool) {
	switch {
	case a.next.node != 0:
		return a.next.at, true
	case len(a.order) > 0:
		return a.order[0].at, true
	}
	return 0, false
}
