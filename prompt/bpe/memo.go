package bpe

const (
	// memoSlots is how many pieces one work memory remembers, a power of 2.
	memoSlots = 4096
	// memoText and memoIDs are the longest piece, in bytes and in ids, that
	// it remembers.
	memoText = 32
	memoIDs  = 8
)

// memo remembers what the last pieces were merged to: the names of a program
// come again and again. It belongs to one Encode at a time, so it needs no
// lock, and its size is fixed.
type memo struct {
	slots [memoSlots]remembered
}

// remembered is one piece; n is 0 in an empty slot.
type remembered struct {
	text [memoText]byte
	ids  [memoIDs]uint32
	n, k uint8 // bytes of text, ids
}

// slot returns the place for a piece, nil if there is none or it is too long for one. key is
// keyOf the piece.
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
