package cache

import "math/bits"

// atOnce is how many blocks an eviction takes out, if it can, and farEnough
// how many nodes it looks at for each.
const (
	atOnce    = 64
	farEnough = 256
)

// evict makes room when memory is full; false means that there was nothing to
// take. First goes what dropped holders left, then what lies behind blocks
// that nobody holds, which counts for nobody, then the oldest leaves: a hand
// goes round, and what was stored since it came by the last time is spared
// once. keep and all before it stay.
func (x *Index) evict(keep uint32) bool {
	if len(x.sweep.dead)+len(x.sweep.pass) > 0 {
		before := x.nodes.alive
		x.sweepSome(atOnce * farEnough)
		if x.nodes.alive < before {
			return true
		}
	}
	gone := 0
	if x.nodes.alive == 0 {
		return false
	}
	if x.nodes.bare > 0 {
		gone = x.turnHand(keep, x.behindHole)
	}
	for round := 0; gone == 0 && round < 2+int(x.nodes.used)/(atOnce*farEnough); round++ {
		gone = x.turnHand(keep, x.old)
	}
	x.count.evicted += int64(gone)
	return gone > 0
}

// behindHole picks nodes that nobody holds.
func (x *Index) behindHole(id uint32) bool { return uint32(x.nodes.state(id)) == 0 }

// old picks nodes that were not stored lately.
func (x *Index) old(id uint32) bool {
	r := x.nodes.rest(id)
	young := r[nodeParent]&isYoung != 0
	r[nodeParent] &^= isYoung
	return !young
}

// turnHand takes out branches of the nodes that pick chooses, ends first.
func (x *Index) turnHand(keep uint32, pick func(uint32) bool) (gone int) {
	for range atOnce * farEnough {
		if x.hand++; x.hand > x.nodes.used {
			x.hand = 1
		}
		if !x.nodes.lives(x.hand) || !pick(x.hand) {
			continue
		}
		top := x.hand
		for gone < atOnce && x.nodes.lives(top) {
			leaf := top
			for k := leaf; k != 0; k = x.nodes.kid(k) {
				leaf = k
			}
			if leaf == keep {
				break
			}
			gone += x.cutBranch(leaf, top, keep, atOnce-gone)
		}
		if gone >= atOnce {
			break
		}
	}
	return gone
}

// cutBranch takes out a leaf and those before it, up to top.
func (x *Index) cutBranch(leaf, top, keep uint32, most int) (gone int) {
	for gone < most && leaf != keep {
		parent := x.nodes.parent(leaf)
		x.leaveAll(leaf)
		x.prune(leaf)
		gone++
		if leaf == top || parent == 0 || !x.nodes.lives(parent) || x.nodes.kid(parent) != 0 {
			break
		}
		leaf = parent
	}
	return gone
}

// leaveAll takes all holders out of a leaf.
func (x *Index) leaveAll(id uint32) {
	s := x.nodes.of(id)
	if s == nil {
		return
	}
	for w := int(s.base); w < int(s.base)+int(s.n); w++ {
		any := uint64(0)
		for set := range setOwn {
			any |= s.word(set, w)
		}
		for ; any != 0; any &= any - 1 {
			if o := x.slots[w<<6|bits.TrailingZeros64(any)].Load(); o != nil {
				held, _ := s.held(o.slot)
				o.count(held&tierBits, 0)
				x.forgetSoon(o, id)
				delete(o.many, id)
				x.unassume(o, id)
			}
		}
	}
	x.nodes.hold(id, nil)
}
