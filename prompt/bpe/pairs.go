package bpe

import "math/bits"

// none is what pairs.find returns for two tokens that no merge joins. It is
// above every real value, so the least value wins without a test.
const none = ^uint64(0)

// pairs finds a merge by the two tokens that it joins: a flat open-addressing
// table that never changes once it is built.
type pairs struct {
	slots []pairSlot
	shift uint
}

// pairSlot is one merge.
type pairSlot struct {
	key   uint64 // see pairKey; 0 is an empty slot
	value uint64 // rank<<32 | id of the joined token
}

// newPairs returns a table with room for n merges. It stays more than half
// empty: most look-ups find nothing and should see that at once.
func newPairs(n int) *pairs {
	size := max(1, bits.Len(uint(2*n)))
	return &pairs{slots: make([]pairSlot, 1<<size), shift: uint(64 - size)}
}

// add enters a merge; of two merges of the same pair the later one counts.
func (p *pairs) add(left, right, rank, joined uint32) {
	key := pairKey(left, right)
	i := p.home(key)
	for p.slots[i].key != 0 && p.slots[i].key != key {
		i = (i + 1) & (len(p.slots) - 1)
	}
	p.slots[i] = pairSlot{key, uint64(rank)<<32 | uint64(joined)}
}

// find returns rank<<32 | joined id, or none.
func (p *pairs) find(left, right uint32) uint64 {
	key := pairKey(left, right)
	for i := p.home(key); ; i = (i + 1) & (len(p.slots) - 1) {
		switch p.slots[i].key {
		case key:
			return p.slots[i].value
		case 0:
			return none
		}
	}
}

// home is the slot where the search for a key begins.
func (p *pairs) home(key uint64) int {
	return int((key ^ key>>29) * 0x9e3779b97f4a7c15 >> p.shift)
}

// pairKey is never 0: ids stay far below 1<<32.
func pairKey(left, right uint32) uint64 { return uint64(left)<<32 + uint64(right) + 1 }
