package cache

import "math/bits"

// sets say who holds one block, and how: for each slot (a place of a holder)
// where it lies, and how far the block is whole. Many blocks have the same, so
// each distinct one exists once, has an id, and never changes (see interner).
// A nil *sets is that nobody holds anything.
//
// Of a set that is not empty it keeps the words between the first and the last
// slot of any: one word for a block with one holder, sixteen for a system
// prompt that a thousand workers share.
type sets struct {
	id      uint32
	mask    uint16 // which sets are not empty
	base, n uint16 // words of each: where they begin, how many
	whole   uint64 // sum of the sets of whole*
	words   []uint64

	// The interner's:
	refs  int32
	idle  bool   // in the queue of those that nobody refers to
	gone  bool   // freed
	check uint64 // sum of all
}

// The sets of a block. What is whole is told by the first of five levels that
// a holder reaches: this block and all before it lie in the GPU tier, or in it
// and the host tier, and so on; the last takes expected blocks in.
const (
	setSoon  = tierCount     // expected, see Expect
	setOwn   = tierCount + 1 // held under names of the holder's own, see refs.go
	setWhole = tierCount + 2
	levels   = tierCount + 1
	allSets  = setWhole + levels

	bitSoon  = 1 << setSoon
	bitOwn   = 1 << setOwn
	tierBits = 1<<tierCount - 1
	notWhole = levels // of a holder: no level
)

func (s *sets) name() uint32 {
	if s == nil {
		return 0
	}
	return s.id
}

// word is one word of a set, by its place in the whole.
func (s *sets) word(set, w int) uint64 {
	if s == nil || s.mask>>set&1 == 0 || uint(w-int(s.base)) >= uint(s.n) {
		return 0
	}
	return s.words[bits.OnesCount16(s.mask&(1<<set-1))*int(s.n)+w-int(s.base)]
}

// held is what one slot has, as bits by set, and its first whole level.
func (s *sets) held(slot int) (held uint8, level int) {
	level = notWhole
	if s == nil || uint(slot>>6-int(s.base)) >= uint(s.n) {
		return 0, level
	}
	at := slot>>6 - int(s.base)
	for m := s.mask; m != 0; m &= m - 1 {
		if s.words[at]>>(slot&63)&1 != 0 {
			if set := bits.TrailingZeros16(m); set < setWhole {
				held |= 1 << set
			} else {
				level = set - setWhole
			}
		}
		at += int(s.n)
	}
	return held, level
}

// has tells whether a slot is in a set.
func (s *sets) has(set, slot int) bool { return s.word(set, slot>>6)>>(slot&63)&1 != 0 }

// wholeWord is a word of those who reach a level or a better one.
func (s *sets) wholeWord(level, w int) (x uint64) {
	if s == nil {
		return 0
	}
	for k := range level + 1 {
		x |= s.word(setWhole+k, w)
	}
	return x
}

// wholeSum names the whole sets: equal sums, equal sets.
func (s *sets) wholeSum() uint64 {
	if s == nil {
		return 0
	}
	return s.whole
}

// best is the first level that a block reaches by itself.
func best(held uint8) int {
	if held &= tierBits | bitSoon; held == 0 {
		return notWhole
	}
	return bits.TrailingZeros8(held)
}

// touches tells whether any of the slots in dead is in any of the sets.
func (s *sets) touches(dead *[slotWords]uint64) bool {
	if s == nil {
		return false
	}
	for i, x := range s.words {
		if x&dead[int(s.base)+i%int(s.n)] != 0 {
			return true
		}
	}
	return false
}
