package cache

import "math"

// assumed is what a worker without events is taken to hold: the blocks of the
// turns sent there, as many as fit, least recently used out first.
//
// A block is used whenever one behind it is, so the least recently used block
// is always a leaf, and a block that becomes a leaf takes over the stamp of the
// last one behind it. So the books here are of leaves, one for each session or
// so, and not of blocks.
type assumed struct {
	leaves map[uint32]uint64 // when each was used; but for next
	inner  map[uint32]inner  // of those before them: what is not as if one use had made them
	order  stamps            // of leaves; entries may be stale
	next   stamp             // the leaf that goes first, or none
	clock  uint64
}

// inner is what is to be known of a block with others behind it.
type inner struct {
	more  int    // assumed blocks right behind it, beyond the first
	stamp uint64 // of uses that went no further, or whose further blocks are gone
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

// DefaultRoom is how many tokens a worker is taken to have room for when it does
// not tell.
const DefaultRoom = 256 << 10

// assumedSize is what a leaf or an inner block takes in the books here, as
// bytes go.
const assumedSize = 96

// size is what they take together.
func (a *assumed) size() int { return (len(a.leaves) + len(a.inner)) * assumedSize }

// Assume notes that a turn with this chain went to a worker that sends no
// events and has room for capBlocks blocks, for DefaultRoom when that is 0.
// Once a worker's events come, they replace what was assumed, and Assume does
// nothing. The chain is not kept.
func (x *Index) Assume(h Holder, chain []uint64, capBlocks int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if capBlocks <= 0 {
		capBlocks = max(DefaultRoom/x.block, 1)
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
		o.assumed = &assumed{leaves: map[uint32]uint64{}, inner: map[uint32]inner{}}
	}
	a := o.assumed
	before := a.size()
	a.clock = max(a.clock+1, uint64(now))
	depth, joint := x.depth(o, chain, func(s *sets) bool { return s.has(0, o.slot) })
	if end := x.assumeBehind(o, chain[depth:], joint); end != joint {
		a.grew(joint)
		a.leaf(end, a.clock)
	} else if end != 0 {
		a.used(end)
	}
	x.loose += a.size() - before
	for o.cached[0] > capBlocks && x.evictAssumed(o, math.MaxUint64) {
	}
	if x.opt.AssumeTTL > 0 {
		if x.ends == 0 {
			x.ends = now + int64(x.opt.AssumeTTL)
		}
		x.setExpiry()
	}
}

// assumeBehind adds blocks one behind the other, and returns the last.
func (x *Index) assumeBehind(o *holder, chain []uint64, end uint32) uint32 {
	x.keys = mixAll(x.keys[:0], chain)
	for keys := x.keys; len(keys) > 0; {
		n, ok := x.behind(end, keys[0])
		made := 1
		switch {
		case ok && n == 0:
			n, made = x.extend(o, keys, nil, end, 0)
		case ok:
			x.nodes.stamp(n)
			held, _ := x.nodes.of(n).held(o.slot)
			x.change(o, n, held|1)
		}
		if !ok || made == 0 {
			x.count.refused++
			break
		}
		keys, end = keys[made:], n
	}
	return end
}

// grew notes that a block has a new one behind it, of the use of now.
func (a *assumed) grew(n uint32) {
	if n == 0 {
		return
	}
	if _, ok := a.take(n); ok {
		return // it was used no later than now
	}
	u := a.inner[n]
	u.more++
	a.inner[n] = u
}

// used notes that a use went as far as a block and no further.
func (a *assumed) used(n uint32) {
	if _, ok := a.take(n); ok {
		a.leaf(n, a.clock)
		return
	}
	u := a.inner[n]
	u.stamp = a.clock
	a.inner[n] = u
}

// leaf makes a leaf of a block.
func (a *assumed) leaf(n uint32, at uint64) {
	a.leaves[n] = at
	a.order.push(stamp{at, n})
	if len(a.order) > 2*len(a.leaves)+64 {
		a.order = a.order[:0]
		for n, at := range a.leaves {
			a.order.push(stamp{at, n})
		}
	}
}

// take takes a leaf out of the leaves; false means that it is none.
func (a *assumed) take(n uint32) (at uint64, ok bool) {
	if a.next.node == n {
		at, a.next = a.next.at, stamp{}
		return at, true
	}
	if at, ok = a.leaves[n]; ok {
		delete(a.leaves, n)
	}
	return at, ok
}

// evictAssumed drops the least recently used block unless it was used after
// last; false means that there is none.
func (x *Index) evictAssumed(o *holder, last uint64) bool {
	a := o.assumed
	if s := a.next; s.node != 0 && len(a.order) > 0 && a.order[0].at < s.at {
		a.next = stamp{} // a leaf was made that goes before it
		a.leaf(s.node, s.at)
		x.loose += assumedSize
	}
	for a.next.node == 0 && len(a.order) > 0 {
		if s := a.order.pop(); a.leaves[s.node] == s.at {
			a.next = s
			delete(a.leaves, s.node)
			x.loose -= assumedSize
		}
	}
	s := a.next
	if s.node == 0 || s.at > last {
		return false
	}
	parent := x.nodes.parent(s.node)
	held, _ := x.nodes.of(s.node).held(o.slot)
	x.change(o, s.node, held&^1)
	x.prune(s.node)
	before := a.size()
	a.next = stamp{}
	if at, ok := a.bared(parent, s.at); ok && at == s.at {
		a.next = stamp{at, parent} // nothing was used before it
	} else if ok {
		a.leaf(parent, at)
	}
	x.loose += a.size() - before
	return true
}

// bared notes that a block has lost one behind it that was used at some time.
// It is a leaf if that was the last, used when bared says.
func (a *assumed) bared(n uint32, at uint64) (uint64, bool) {
	if n == 0 {
		return 0, false
	}
	u, ok := a.inner[n]
	if !ok {
		return at, true
	}
	u.stamp = max(u.stamp, at)
	if u.more > 0 {
		u.more--
		a.inner[n] = u
		return 0, false
	}
	delete(a.inner, n)
	return u.stamp, true
}

// unassume takes a leaf out of the books that goes for another reason than its
// age.
func (x *Index) unassume(o *holder, id uint32) {
	a := o.assumed
	if a == nil {
		return
	}
	before := a.size()
	if at, ok := a.take(id); ok {
		parent := x.nodes.parent(id)
		if at, ok := a.bared(parent, at); ok {
			a.leaf(parent, at)
		}
	}
	x.loose += a.size() - before
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
