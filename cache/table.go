package cache

import (
	"math/bits"
	"sync/atomic"
)

// table finds nodes by a mixed hash: the index has one by own hash, which
// readers look at, and one by engines' names. It keeps no keys, only node ids
// and 15 bits of each key; what is found is checked against the node.
//
// It is a directory of segments. A full segment is split by the next bit of
// the keys, and only it, so a table of any size grows a little at a time. An
// entry is copied to the new segment, then the directory names that, then it
// leaves the old one: a reader who misses it looks at the directory again.
// One writer at a time; readers never wait.
//
// A bucket is a line of eight words with ten entries:
//
//	0..2  ten tags of 16 bits; the highest bit says taken. The rest of word 2:
//	      32..41 which entries are not at home, 42..63 how many went on from here
//	3..7  ten node ids
type table struct {
	n     *nodes
	names bool // by engines' names
	dir   atomic.Pointer[directory]
}

type directory struct {
	depth uint
	segs  []atomic.Pointer[segment] // by the last depth bits of a key
}

type segment struct {
	words []uint64
	bits  uint // 2^bits buckets
	depth uint // all its keys end in the same depth bits
	used  int  // entries; the writer's
	quiet bool // no reader looks there, or not yet
	stuck bool // it cannot grow: its keys crowd somewhere
}

// set writes a word that readers may look at. A store that they see in order
// costs as much as the rest of an entry, so it is left out where none looks.
func (s *segment) set(at *uint64, word uint64) {
	if s.quiet {
		*at = word
	} else {
		atomic.StoreUint64(at, word)
	}
}

const (
	bucketWords = 8
	bucketSlots = 10
	firstBits   = 4  // a new table has 16 buckets
	segmentBits = 12 // a segment is split when it has 4,096: 256 KiB
	tagBits     = 15
	farthest    = 256 // buckets that an entry may be from home

	lanes   = 0x0001_0001_0001_0001
	takens  = 0x8000_8000_8000_8000
	lastTwo = 0x8000_8000
)

func newTable(n *nodes, names bool) *table {
	t := &table{n: n, names: names}
	d := &directory{segs: make([]atomic.Pointer[segment], 1)}
	d.segs[0].Store(&segment{bits: firstBits, quiet: names, words: n.mem.words(bucketWords << firstBits)})
	t.dir.Store(d)
	return t
}

func (d *directory) at(h uint64) *segment { return d.segs[h&(1<<d.depth-1)].Load() }

func (s *segment) home(h uint64) uint { return uint(h >> (64 - s.bits)) }

func (s *segment) bucket(b uint) []uint64 {
	at := (b & (1<<s.bits - 1)) * bucketWords
	return s.words[at : at+bucketWords : at+bucketWords]
}

func tagOf(h uint64) uint64 { return h&(1<<tagBits-1) | 1<<tagBits }

// hits is the entries of a bucket that may have the tag, as a set of bits.
func hits(b []uint64, tag uint64) (found uint) {
	tag *= lanes
	for w := range 3 {
		x := atomic.LoadUint64(&b[w]) ^ tag
		x = (x - lanes) & ^x & takens
		if w == 2 {
			x &= lastTwo
		}
		for ; x != 0; x &= x - 1 {
			found |= 1 << uint(4*w+bits.TrailingZeros64(x)/16)
		}
	}
	return found
}

func idAt(b []uint64, slot uint) uint32 {
	return uint32(atomic.LoadUint64(&b[3+slot/2]) >> (slot & 1 * 32))
}

func wentOn(b []uint64) bool { return atomic.LoadUint64(&b[2])>>42 != 0 }

// sets is the id of what is held of the block of a mixed own hash, 0 when
// nobody has any. For readers.
func (t *table) sets(h uint64) uint32 {
	for {
		d := t.dir.Load()
		s := d.at(h)
		for b, n := s.home(h), 0; n < farthest; b, n = b+1, n+1 {
			line := s.bucket(b)
			for m := hits(line, tagOf(h)); m != 0; m &= m - 1 {
				if a := t.n.state(idAt(line, uint(bits.TrailingZeros(m)))); uint32(a>>32) == middle(h) {
					return uint32(a)
				}
			}
			if !wentOn(line) {
				break
			}
		}
		if again := t.dir.Load(); again == d && d.at(h) == s {
			return 0
		}
	}
}

// touch brings the line where h belongs near, and returns nothing of use.
func (t *table) touch(h uint64) uint64 {
	s := t.dir.Load().at(h)
	return atomic.LoadUint64(&s.words[s.home(h)*bucketWords+2])
}

// find returns the node of a mixed hash, 0 when there is none. For the writer.
func (t *table) find(h uint64) uint32 {
	s := t.dir.Load().at(h)
	for b, n := s.home(h), 0; n < farthest; b, n = b+1, n+1 {
		line := s.bucket(b)
		for m := hits(line, tagOf(h)); m != 0; m &= m - 1 {
			if id := idAt(line, uint(bits.TrailingZeros(m))); t.key(id) == h {
				return id
			}
		}
		if !wentOn(line) {
			break
		}
	}
	return 0
}

// key is the mixed hash by which this table finds a node.
func (t *table) key(id uint32) uint64 {
	if t.names {
		return t.n.name(id)
	}
	return t.n.hash(id)
}

// put enters a node that the table has not; false means that there is no room.
func (t *table) put(h uint64, id uint32) bool {
	for {
		s := t.dir.Load().at(h)
		all := bucketSlots << s.bits
		if s.used*8 >= all*7 && !t.grow(s) && s.used*20 >= all*19 {
			return false
		}
		if t.dir.Load().at(h) != s {
			continue
		}
		if s.put(h, id) {
			return true
		}
		if !t.grow(s) { // keys crowd here
			return false
		}
	}
}

func (s *segment) put(h uint64, id uint32) bool {
	home := s.home(h)
	for n := range uint(farthest) {
		line := s.bucket(home + n)
		if slot, ok := vacant(line); ok {
			for k := range n {
				over := &s.bucket(home + k)[2]
				s.set(over, *over+1<<42)
			}
			s.fill(line, slot, h, id, n > 0)
			s.used++
			return true
		}
	}
	return false
}

// vacant finds an empty entry of a bucket.
func vacant(b []uint64) (uint, bool) {
	for w := range uint(3) {
		free := ^b[w] & takens
		if w == 2 {
			free &= lastTwo
		}
		if free != 0 {
			return 4*w + uint(bits.TrailingZeros64(free))/16, true
		}
	}
	return 0, false
}

// fill writes an entry, its tag last: from then on readers see it.
func (s *segment) fill(b []uint64, slot uint, h uint64, id uint32, away bool) {
	shift := slot & 1 * 32
	at := &b[3+slot/2]
	s.set(at, *at&^(0xffffffff<<shift)|uint64(id)<<shift)
	if away {
		s.set(&b[2], b[2]|1<<(32+slot))
	}
	w, lane := slot/4, slot%4*16
	s.set(&b[w], b[w]&^(0xffff<<lane)|tagOf(h)<<lane)
}

// del takes a node out.
func (t *table) del(h uint64, id uint32) { t.dir.Load().at(h).del(h, id) }

func (s *segment) del(h uint64, id uint32) {
	home := s.home(h)
	for n := range uint(farthest) {
		line := s.bucket(home + n)
		for m := hits(line, tagOf(h)); m != 0; m &= m - 1 {
			slot := uint(bits.TrailingZeros(m))
			if idAt(line, slot) != id {
				continue
			}
			s.empty(line, slot)
			for k := range n {
				over := &s.bucket(home + k)[2]
				s.set(over, *over-1<<42)
			}
			return
		}
	}
}

// empty clears an entry; where it was not at home, the buckets before it have
// still to be told.
func (s *segment) empty(b []uint64, slot uint) {
	w, lane := slot/4, slot%4*16
	s.set(&b[w], b[w]&^(0xffff<<lane))
	if away(b, slot) {
		s.set(&b[2], b[2]&^(1<<(32+slot)))
	}
	s.used--
}

func away(b []uint64, slot uint) bool { return b[2]>>(32+slot)&1 != 0 }
