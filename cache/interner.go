package cache

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// interner keeps each distinct sets once. Readers find them by id; all else is
// the writer's.
//
// An id is a place and a count of the lives that the place had. sets never
// change and lie on the Go heap, so a reader who has one can read it at ease;
// that it is the one he meant, its id tells. Places are given out anew in the
// order in which they became free, and at the earliest when hundreds of others
// did, so a count of 64 lives is long enough.
type interner struct {
	places atomic.Pointer[[]*[placesSize]atomic.Pointer[sets]]
	by     map[uint64]*sets
	used   uint32
	free   []uint32 // ids for next lives, oldest first
	idle   []*sets  // nobody refers to them; oldest first
	memo   [1 << memoBits]step
	bytes  int // of all
	build  builder
}

// step is a change that was made before, and will be for the next block.
type step struct {
	from  *sets
	slot  uint16
	held  uint8
	level uint8
	to    *sets
}

func (m *step) valid() bool {
	if m.to == nil {
		return m.from != nil
	}
	return !m.to.gone
}

const (
	placesSize = 1 << 10
	lifeBits   = 6
	memoBits   = 8
	keepIdle   = 512

	setsSize = 160 // of an entry without words: itself, in the map, its place
)

func newInterner() *interner {
	n := &interner{by: map[uint64]*sets{}}
	n.places.Store(new([]*[placesSize]atomic.Pointer[sets]))
	return n
}

// at returns what an id names, nil for 0. A reader whose id has gone stale
// gets what has another id, or nil.
func (n *interner) at(id uint32) *sets {
	if id == 0 {
		return nil
	}
	place := id >> lifeBits
	return (*n.places.Load())[place/placesSize][place%placesSize].Load()
}

// use adds references.
func (n *interner) use(s *sets, times int) {
	if s != nil {
		s.refs += int32(times)
	}
}

// drop ends a reference. What nobody refers to stays for a while: blocks come
// and go one by one, and the next will want the same.
func (n *interner) drop(id uint32) {
	s := n.at(id)
	if s == nil {
		return
	}
	if s.refs--; s.refs > 0 || s.idle {
		return
	}
	n.rest(s)
}

// rest puts sets to those that nobody refers to, and ends the oldest of them.
func (n *interner) rest(s *sets) {
	s.idle = true
	n.idle = append(n.idle, s)
	for len(n.idle) > keepIdle {
		s, n.idle = n.idle[0], n.idle[1:]
		if s.idle = false; s.refs == 0 {
			n.end(s)
		}
	}
}

func (n *interner) end(s *sets) {
	s.gone = true
	delete(n.by, s.check)
	place := s.id >> lifeBits
	(*n.places.Load())[place/placesSize][place%placesSize].Store(nil)
	n.free = append(n.free, place<<lifeBits|(s.id+1)&(1<<lifeBits-1))
	n.bytes -= setsSize + 8*len(s.words)
}

// with is sets s with one slot as told.
func (n *interner) with(s *sets, slot int, held uint8, level int) *sets {
	m := &n.memo[(s.name()*0x9e3779b1^uint32(slot)*0x85ebca6b^uint32(held)<<20)>>(32-memoBits)]
	if m.from == s && int(m.slot) == slot && m.held == held && int(m.level) == level && m.valid() {
		return m.to
	}
	b := &n.build
	b.load(s, slot>>6)
	for set := range allSets {
		b.set(set, slot, set < setWhole && held>>set&1 != 0 || set-setWhole == level)
	}
	to := n.intern(b)
	*m = step{s, uint16(slot), held, uint8(level), to}
	return to
}

// without is sets s with none of the slots in dead.
func (n *interner) without(s *sets, dead *[slotWords]uint64) *sets {
	b := &n.build
	b.load(s, int(s.base))
	for set := range allSets {
		for w := b.lo; w < b.hi; w++ {
			b.words[set][w] &^= dead[w]
		}
	}
	return n.intern(b)
}

// builder is where sets are put together.
type builder struct {
	words  [allSets][slotWords]uint64
	lo, hi int // the words in use
	flat   []uint64
	bytes  []byte
}

// load begins with s, and makes room for word w.
func (b *builder) load(s *sets, w int) {
	b.lo, b.hi = w, w+1
	if s != nil {
		b.lo, b.hi = min(w, int(s.base)), max(w+1, int(s.base)+int(s.n))
	}
	for set := range allSets {
		for i := b.lo; i < b.hi; i++ {
			b.words[set][i] = s.word(set, i)
		}
	}
}

func (b *builder) set(set, slot int, in bool) {
	at := &b.words[set][slot>>6]
	*at &^= 1 << (slot & 63)
	if in {
		*at |= 1 << (slot & 63)
	}
}

// shape finds which sets are not empty, and between which words.
func (b *builder) shape() (mask uint16) {
	lo, hi := b.hi, b.lo
	for set := range allSets {
		for i := b.lo; i < b.hi; i++ {
			if b.words[set][i] != 0 {
				mask |= 1 << set
				lo, hi = min(lo, i), max(hi, i+1)
			}
		}
	}
	b.lo, b.hi = lo, hi
	return mask
}

// intern returns the sets that were built, nil when they are empty.
func (n *interner) intern(b *builder) *sets {
	mask := b.shape()
	if mask == 0 {
		return nil
	}
	b.flat = b.flat[:0]
	for m := mask; m != 0; m &= m - 1 {
		b.flat = append(b.flat, b.words[bits.TrailingZeros16(m)][b.lo:b.hi]...)
	}
	from := bits.OnesCount16(mask&(1<<setWhole-1)) * (b.hi - b.lo)
	check := b.sum(mask, b.flat)
	for ; ; check++ {
		s := n.by[check]
		if s == nil {
			break
		}
		if s.mask == mask && int(s.base) == b.lo && slices.Equal(s.words, b.flat) {
			return s
		}
	}
	s := &sets{mask: mask, base: uint16(b.lo), n: uint16(b.hi - b.lo), words: slices.Clone(b.flat), check: check}
	s.whole = b.sum(mask>>setWhole, b.flat[from:])
	n.enter(s)
	return s
}

func (b *builder) sum(mask uint16, words []uint64) uint64 {
	if mask == 0 {
		return 0
	}
	b.bytes = binary.LittleEndian.AppendUint64(b.bytes[:0], uint64(mask)<<16|uint64(b.lo))
	for _, w := range words {
		b.bytes = binary.LittleEndian.AppendUint64(b.bytes, w)
	}
	return xxh3.Hash(b.bytes) | 1
}

// enter gives new sets their place.
func (n *interner) enter(s *sets) {
	if len(n.free) > keepIdle {
		s.id, n.free = n.free[0], n.free[1:]
	} else {
		n.used++
		s.id = n.used << lifeBits
		if have := *n.places.Load(); int(n.used/placesSize) >= len(have) {
			more := append(have, new([placesSize]atomic.Pointer[sets]))
			n.places.Store(&more)
		}
	}
	place := s.id >> lifeBits
	(*n.places.Load())[place/placesSize][place%placesSize].Store(s)
	n.by[s.check] = s
	n.bytes += setsSize + 8*len(s.words)
	n.rest(s)
}
