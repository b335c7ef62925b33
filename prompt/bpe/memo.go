package bpe

import (
	"encoding/binary"
	"math/bits"
)

const (
	// briefBits and memoSlots are how many places one work memory has for
	// pieces; the first is a power of 2.
	briefBits = 14
	memoSlots = 2048
	// briefText and briefIDs are the longest piece, in bytes and in ids, that
	// is a brief one.
	briefText = 15
	briefIDs  = 3
	// memoText and memoIDs are the longest piece that is remembered at all.
	memoText = 32
	memoIDs  = 8
)

// memo remembers what the last pieces gave: the words of a text come again and
// again. It belongs to one Encode at a time, so it needs no lock, and its size
// is fixed. Nearly all pieces are brief; of the others it has what was merged.
type memo struct {
	brief [1 << briefBits]brief
	slots [memoSlots]remembered
}

// brief is a short piece.
type brief struct {
	key briefKey
	ids [briefIDs]uint32
	k   uint32 // how many ids
}

// briefKey is the bytes of a short piece, the last one of them its length; zero
// in an empty place. (An array would not be kept in registers.)
type briefKey struct{ low, high uint64 }

// briefMasks cut so many bytes out of sixteen.
var briefMasks = func() (all [briefText + 1]briefKey) {
	for n := range all {
		all[n] = briefKey{1<<(8*min(n, 8)) - 1, 1<<(8*max(n-8, 0)) - 1}
	}
	return all
}()

// newKey is the key of a brief piece of n bytes, which the words begin with.
func newKey(low, high uint64, n int) briefKey {
	m := &briefMasks[n&briefText]
	return briefKey{low & m.low, high&m.high | uint64(n)<<(8*briefText-64)}
}

// keyOfBrief is the key of s[i:j].
func keyOfBrief(s string, i, j int) briefKey {
	if i+briefText < len(s) {
		return newKey(load64(s, i), load64(s, i+8), j-i)
	}
	var b [briefText + 1]byte
	copy(b[:], s[i:j])
	return newKey(binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:]), j-i)
}

// of returns the place for a brief piece.
func (m *memo) of(key briefKey) *brief {
	return &m.brief[(key.low^bits.RotateLeft64(key.high*0xa0761d6478bd642f, 32))*0xe7037ed1a0b428db>>(64-briefBits)]
}

// keep remembers that key gave ids, unless these are too many.
func (e *brief) keep(key briefKey, ids []uint32) {
	if len(ids) <= briefIDs {
		e.key, e.k = key, uint32(copy(e.ids[:], ids))
	}
}

// remembered is one piece; n is 0 in an empty slot.
type remembered struct {
	text [memoText]byte
	ids  [memoIDs]uint32
	n, k uint8 // bytes of text, ids
}

// slot returns the place for a merged piece, nil if there is none or it is
// too long for one. key is keyOf the piece.
func (m *memo) slot(s string, key uint64) *remembered {
	if m == nil || len(s) > memoText {
		return nil
	}
	return &m.slots[mix(key^uint64(len(s)))%memoSlots]
}

// holds says whether r remembers s.
func (r *remembered) holds(s string) bool {
	return int(r.n) == len(s) && string(r.text[:r.n]) == s
}

// keep remembers that s was merged to ids, unless these are too many.
func (r *remembered) keep(s string, ids []uint32) {
	if len(ids) > memoIDs {
		return
	}
	r.n, r.k = uint8(copy(r.text[:], s)), uint8(copy(r.ids[:], ids))
}
