package cache

import (
	"math/bits"
	"sync/atomic"
)

// grow makes room for what a full segment has no room for: while a table is
// small its only segment is made anew, four times as large; later the segment
// is split. False means that there is no memory.
func (t *table) grow(s *segment) bool {
	switch {
	case s.stuck:
		return false
	case s.bits < segmentBits:
		return t.enlarge(s)
	case s.depth == tagBits:
		return false // all its keys end alike: somebody made them so
	}
	return t.split(s)
}

// enlarge replaces the only segment. Readers who are in the old one find all
// there that was in it; the collector takes it when they are gone.
func (t *table) enlarge(s *segment) bool {
	more := &segment{bits: s.bits + 2, depth: s.depth, quiet: true}
	if more.words = t.n.mem.words(bucketWords << more.bits); more.words == nil {
		return false
	}
	for b := range uint(1) << s.bits {
		line := s.bucket(b)
		for w := range uint(3) {
			for m := line[w] & taken(w); m != 0; m &= m - 1 {
				id := idAt(line, slotOf(w, m))
				if !more.put(t.key(id), id) {
					s.stuck = true
					return false
				}
			}
		}
	}
	more.quiet = t.names
	t.dir.Load().segs[0].Store(more)
	t.n.mem.charge(-8 * len(s.words))
	return true
}

// taken are the bits that say so in one of the three words of tags.
func taken(w uint) uint64 {
	if w == 2 {
		return lastTwo
	}
	return takens
}

// slotOf is the entry that the lowest bit of a word of tags belongs to.
func slotOf(w uint, m uint64) uint { return 4*w + uint(bits.TrailingZeros64(m))/16 }

// split moves the entries whose next bit is set to a segment of their own.
func (t *table) split(s *segment) bool {
	other := &segment{bits: s.bits, depth: s.depth + 1, quiet: true}
	if other.words = t.n.mem.words(bucketWords << other.bits); other.words == nil {
		return false
	}
	if !t.copyHalf(s, other) {
		s.stuck = true
		return false
	}
	s.depth++
	other.quiet = t.names
	t.name(s, other)
	t.leaveHalf(s)
	return true
}

// moving are the taken entries of a word of tags whose key has a bit set.
func moving(line []uint64, w, bit uint) uint64 {
	return line[w] & (line[w] << (tagBits - bit)) & taken(w)
}

// copyHalf copies the entries that move. Most are at home, and so will they be
// in the other half: their bucket and tag tell all there is to know.
func (t *table) copyHalf(s, other *segment) bool {
	for b := range uint(1) << s.bits {
		line := s.bucket(b)
		for w := range uint(3) {
			for m := moving(line, w, s.depth); m != 0; m &= m - 1 {
				slot := slotOf(w, m)
				id := idAt(line, slot)
				h := uint64(b)<<(64-s.bits) | line[w]>>(slot%4*16)&(1<<tagBits-1)
				if away(line, slot) {
					h = t.key(id)
				}
				if !other.put(h, id) {
					return false
				}
			}
		}
	}
	return true
}

// leaveHalf clears what was copied, a word of tags at once.
func (t *table) leaveHalf(s *segment) {
	bit := s.depth - 1
	for b := range uint(1) << s.bits {
		line := s.bucket(b)
		for w := range uint(3) {
			home := uint64(0)
			for m := moving(line, w, bit); m != 0; m &= m - 1 {
				if slot := slotOf(w, m); !away(line, slot) {
					home |= 0xffff << (slot % 4 * 16)
					s.used--
				} else {
					id := idAt(line, slot)
					s.del(t.key(id), id)
				}
			}
			if home != 0 {
				s.set(&line[w], line[w]&^home)
			}
		}
	}
}

// name enters a segment's new half in the directory, which doubles when it
// has no room for the difference.
func (t *table) name(s, other *segment) {
	d := t.dir.Load()
	if s.depth <= d.depth {
		for i := range d.segs {
			if d.segs[i].Load() == s && i>>(s.depth-1)&1 != 0 {
				d.segs[i].Store(other)
			}
		}
		return
	}
	n := len(d.segs)
	more := &directory{depth: d.depth + 1, segs: make([]atomic.Pointer[segment], 2*n)}
	for i := range more.segs {
		was := d.segs[i&(n-1)].Load()
		if was == s && i >= n {
			was = other
		}
		more.segs[i].Store(was)
	}
	t.n.mem.charge(8 * n)
	t.dir.Store(more)
}
