package turn

import (
	"slices"
	"unsafe"
)

// IDs is a sequence of token ids, such as a prompt's. What one holds is never
// written, so a prompt and those that go on from it share what they have in
// common, and any goroutine may read. The zero value is empty. As with a slice,
// what asks for ids that are not there panics.
type IDs struct {
	parts []part // whole ones, then maybe one that is not
	n     int    // ids; the last part may hold more
}

// part is a run of ids: partIDs of them where it is whole.
type part struct {
	ids  []uint32
	text []byte // of a whole part, see Written; nil where it was not made
}

// partIDs is how many ids lie together. To go on from a sequence copies the ids
// behind its last whole part, and what lists its parts.
const partIDs = 2048

// IDsOf makes a sequence of ids, which are not copied and must not be written
// any more.
func IDsOf(ids ...uint32) IDs {
	if len(ids) == 0 {
		return IDs{}
	}
	s := IDs{parts: make([]part, 0, partsOf(len(ids))), n: len(ids)}
	for some := range slices.Chunk(ids, partIDs) {
		s.parts = append(s.parts, part{ids: some})
	}
	return s
}

// partsOf is how many parts n ids lie in.
func partsOf(n int) int { return (n + partIDs - 1) / partIDs }

// Len tells how many ids there are.
func (s IDs) Len() int { return s.n }

// At returns an id.
func (s IDs) At(i int) uint32 {
	if i >= s.n {
		panic("turn: no such id")
	}
	return s.parts[i/partIDs].ids[i%partIDs]
}

// Cut returns the first n ids.
func (s IDs) Cut(n int) IDs {
	switch {
	case n < 0 || n > s.n:
		panic("turn: cut where no ids are")
	case n == 0:
		return IDs{}
	}
	if k := partsOf(n); k < len(s.parts) {
		s.parts = slices.Clone(s.parts[:k]) // the others are not to be held
	}
	s.n = n
	return s
}

// Append returns the sequence with ids behind it, which are copied.
func (s IDs) Append(ids []uint32) IDs {
	if len(ids) == 0 {
		return s
	}
	whole := s.n / partIDs
	parts := append(make([]part, 0, partsOf(s.n+len(ids))), s.parts[:whole]...)
	var rest []uint32
	if whole < len(s.parts) {
		rest = s.parts[whole].ids[:s.n-whole*partIDs]
	}
	n := s.n + len(ids)
	for len(ids) > 0 {
		own := append(make([]uint32, 0, min(len(rest)+len(ids), partIDs)), rest...)
		some := ids[:cap(own)-len(own)]
		parts = append(parts, part{ids: append(own, some...)})
		rest, ids = nil, ids[len(some):]
	}
	return IDs{parts, n}
}

// AppendTo appends the ids from one up to another to dst.
func (s IDs) AppendTo(dst []uint32, from, to int) []uint32 {
	if to > s.n {
		panic("turn: no such ids")
	}
	for from < to {
		some := s.parts[from/partIDs].ids[from%partIDs:]
		some = some[:min(len(some), to-from)]
		dst = append(dst, some...)
		from += len(some)
	}
	return dst
}

// Flat returns a copy of the ids in one piece.
func (s IDs) Flat() []uint32 { return s.AppendTo(make([]uint32, 0, s.n), 0, s.n) }

// View returns the ids from one up to another, not to be written: where they
// lie, or in room if they do not lie together.
func (s IDs) View(room []uint32, from, to int) []uint32 {
	if i := from / partIDs; from < to && to <= min(s.n, (i+1)*partIDs) {
		return s.parts[i].ids[from-i*partIDs : to-i*partIDs]
	}
	return s.AppendTo(room[:0], from, to)
}

// Same tells how many of the ids from one on are the first of ids.
func (s IDs) Same(from int, ids []uint32) (n int) {
	for n < min(len(ids), s.n-from) && s.At(from+n) == ids[n] {
		n++
	}
	return n
}

// Bytes tells how much memory the sequence holds, whoever else holds it.
func (s IDs) Bytes() (n int) {
	n = cap(s.parts) * int(unsafe.Sizeof(part{}))
	for _, p := range s.parts {
		n += 4*cap(p.ids) + cap(p.text)
	}
	return n
}
