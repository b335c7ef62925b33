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
		gone = x.evictHoles(keep)
	}
	for round := 0; gone == 0 && round < 2+int(x.nodes.used)/(atOnce*farEnough); round++ {
		gone = x.evictOld(keep)
	}
	x.count.evicted += int64(gone)
	return gone > 0
}

// turn moves the hand on.
func (x *Index) turn() uint32 {
	if x.hand++; x.hand > x.nodes.used {
		x.hand = runSize
	}
	return x.hand
}

// evictHoles takes out what lies behind nodes that nobody holds, ends first.
func (x *Index) evictHoles(keep uint32) (gone int) {
	for steps := atOnce * farEnough; steps > 0 && gone < atOnce; steps-- {
		top := x.turn()
		for gone < atOnce && x.nodes.lives(top) && uint32(x.nodes.state(top)) == 0 {
			leaf := top
			for k := leaf; k != 0; k = x.nodes.kid(k) {
				leaf = k
				steps--
			}
			if leaf == keep {
				break
			}
			x.takeOut(leaf)
			gone++
		}
	}
	return gone
}

// evictOld takes out leaves that were not stored lately, and those before them.
// The hand stays where there is more to take.
func (x *Index) evictOld(keep uint32) (gone int) {
	for range min(atOnce*farEnough, int(x.nodes.used)) {
		id := x.turn()
		for x.nodes.lives(id) && x.nodes.old(id) && x.nodes.kid(id) == 0 && id != keep {
			if gone == atOnce {
				x.hand = id - 1
				return gone
			}
			parent := x.nodes.parent(id)
			x.takeOut(id)
			gone++
			id = parent
		}
	}
	return gone
}

// takeOut takes out a leaf, whoever holds it.
func (x *Index) takeOut(leaf uint32) {
	x.leaveAll(leaf)
	x.prune(leaf)
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
