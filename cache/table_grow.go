package cache

import "sync/atomic"

// grow copies a full segment: to one four times as large while the table is
// small, to two, by the next bit of the keys, when that has its full size, and
// to one if enough is gone of it. Without memory for any of that, entries
// crowd.
func (t *table) grow(s *segment) {
	a, b := &segment{bits: s.bits, depth: s.depth}, (*segment)(nil)
	have := min(len(t.spare), len(s.words))
	switch {
	case s.bits < segmentBits && t.n.mem.has(4*len(s.words)):
		a.bits += 2
	case s.bits == segmentBits && s.alive*8 > len(s.words)*3 && s.depth < tagBits-segmentBits && t.n.mem.has(2*len(s.words)-have):
		a.depth++
		b = &segment{bits: s.bits, depth: a.depth}
		t.take(b)
	case (s.used-s.alive)*16 >= len(s.words) && t.n.mem.has(len(s.words)-have):
	default:
		t.crowded = t.crowded || s.alive*16 >= len(s.words)*13
		return
	}
	t.take(a)
	s.copyTo(a, b)
	t.replace(s, a, b)
	if a.quiet = t.names; b != nil {
		b.quiet = t.names
	}
	if s.bits < segmentBits {
		t.n.mem.charge(-8 * len(s.words)) // the collector takes it
	} else {
		t.spare = s.words
	}
}

// copyTo copies what is alive to a, and to b, if there is one, where the keys
// have the next bit set.
func (s *segment) copyTo(a, b *segment) {
	to := [2]*segment{a, b}
	if b == nil {
		to[1] = a
	}
	for _, e := range s.words {
		if e != empty && e != gone {
			to[e>>(tagBits+s.depth)&1].copy(e) // nobody can foretell which
		}
	}
}

// take gives a segment its room, the spare one if it fits. Readers who are
// still in that find nothing there that is not so.
func (t *table) take(s *segment) {
	if s.bits < segmentBits || t.spare == nil {
		s.words, s.quiet = t.n.mem.words(1<<s.bits), true
		return
	}
	s.words, t.spare, s.quiet = t.spare, nil, t.names
	if s.quiet {
		clear(s.words)
		return
	}
	for i := range s.words {
		s.set(uint(i), empty)
	}
}

// copy enters what another segment had.
func (s *segment) copy(entry uint64) {
	mask := uint(len(s.words) - 1)
	i := s.home(entry >> tagBits)
	for s.words[i] != empty {
		i = (i + 1) & mask
	}
	s.set(i, entry)
	s.used++
	s.alive++
}

// replace puts a in the place of s in the directory, and b, if there is one,
// where the keys have the next bit set. The directory doubles when it has no
// room for the difference.
func (t *table) replace(s, a, b *segment) {
	d := t.dir.Load()
	if a.depth > d.depth {
		n := len(d.segs)
		more := &directory{depth: d.depth + 1, segs: make([]atomic.Pointer[segment], 2*n)}
		for i := range more.segs {
			more.segs[i].Store(d.segs[i&(n-1)].Load())
		}
		t.n.mem.charge(8 * n)
		d = more
	}
	for i := range d.segs {
		if d.segs[i].Load() != s {
			continue
		}
		if b != nil && i>>s.depth&1 != 0 {
			d.segs[i].Store(b)
		} else {
			d.segs[i].Store(a)
		}
	}
	t.dir.Store(d)
}
