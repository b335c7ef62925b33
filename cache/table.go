package cache

import "sync/atomic"

// table finds nodes by a mixed hash: the index has one of the nodes that begin
// runs by their own hash, which readers look at, and one of all that have a
// name by that. It keeps no keys: an entry is a word of 32 bits of the key, its
// tag, and a node's id, and what is found is checked against the node.
//
// It is a directory of segments, each a row of entries that lie from where
// their tag belongs on. A full segment is copied to two new ones, and only it,
// so a table of any size grows a little at a time; see table_grow.go. One writer
// at a time; readers never wait: one who misses something looks at the
// directory again.
type table struct {
	n     *nodes
	names bool // by engines' names; no reader looks there
	dir   atomic.Pointer[directory]
	spare []uint64 // the last segment that was copied

	crowded bool // since the last look: a full segment could not grow
}

type directory struct {
	depth uint
	segs  []atomic.Pointer[segment] // by the last depth bits of a key
}

type segment struct {
	words []uint64
	bits  uint // 2^bits words
	depth uint // all its keys end in the same depth bits
	used  int  // words that are not empty
	alive int  // of them those that name a node
	quiet bool // no reader looks there, or not yet
}

const (
	firstBits   = 7  // a new table has 128 entries
	segmentBits = 15 // a segment is split when it has 32 Ki: 256 KiB
	tagBits     = 32
	farthest    = 1024 // entries from where a key belongs

	empty = 0
	gone  = 1 // an entry that was taken out while others lay behind it
)

func newTable(n *nodes, names bool) *table {
	t := &table{n: n, names: names}
	d := &directory{segs: make([]atomic.Pointer[segment], 1)}
	d.segs[0].Store(&segment{bits: firstBits, quiet: names, words: n.mem.words(1 << firstBits)})
	t.dir.Store(d)
	return t
}

func (d *directory) at(h uint64) *segment { return d.segs[h&(1<<d.depth-1)].Load() }

// home is where a key belongs.
func (s *segment) home(h uint64) uint { return uint(uint32(h) >> (tagBits - s.bits)) }

// set writes a word that readers may look at. A store that they see in order
// costs as much as the rest of an entry, so it is left out where none looks.
func (s *segment) set(at uint, word uint64) {
	if s.quiet {
		s.words[at] = word
	} else {
		atomic.StoreUint64(&s.words[at], word)
	}
}

// peek finds the first node of a run by its mixed own hash, and its state; 0
// when there is none. For readers.
func (t *table) peek(h uint64) (uint32, uint64) {
	for {
		d := t.dir.Load()
		s := d.at(h)
		mask := uint(len(s.words) - 1)
		for i, end := s.home(h), s.home(h)+farthest; i < end; i++ {
			e := atomic.LoadUint64(&s.words[i&mask])
			if e == empty {
				break
			}
			if uint32(e>>tagBits) == uint32(h) && e != gone {
				if state := t.n.state(uint32(e)); uint32(state>>32) == upper(h) {
					return uint32(e), state
				}
			}
		}
		if again := t.dir.Load(); again == d && d.at(h) == s {
			return 0, 0
		}
	}
}

// guess reads the entry where h belongs, which brings its line near. The node
// there is the right one more often than not.
func (t *table) guess(h uint64) uint32 {
	s := t.dir.Load().at(h)
	return uint32(atomic.LoadUint64(&s.words[s.home(h)]))
}

// find returns the node of a mixed hash, 0 when there is none.
func (t *table) find(h uint64) uint32 {
	s := t.dir.Load().at(h)
	id, _ := t.look(s, h)
	return id
}

// none is the place of an entry for which there is none.
const none = ^uint(0)

// look finds the node of a key and the place of its entry, or else the first
// place that is free.
func (t *table) look(s *segment, h uint64) (id uint32, at uint) {
	words := s.words
	mask := uint(len(words) - 1)
	at = none
	for i, end := s.home(h), s.home(h)+farthest; i < end; i++ {
		switch e := words[i&mask]; {
		case e == empty:
			if at == none {
				at = i & mask
			}
			return 0, at
		case e == gone:
			if at == none {
				at = i & mask
			}
		case uint32(e>>tagBits) == uint32(h) && t.key(uint32(e)) == h:
			return uint32(e), i & mask
		}
	}
	return 0, at
}

// key is the mixed hash by which this table finds a node.
func (t *table) key(id uint32) uint64 {
	if t.names {
		return t.n.name(id)
	}
	return t.n.hash(id)
}

// put enters a node; false means that there is no room, or that its key has
// another.
func (t *table) put(h uint64, id uint32) bool {
	s := t.dir.Load().at(h)
	if s.full() {
		if t.grow(s); s != t.dir.Load().at(h) {
			return t.put(h, id)
		}
	}
	had, at := t.look(s, h)
	if had != 0 || at == none {
		return false
	}
	if s.words[at] == empty {
		if s.used*16 >= len(s.words)*15 {
			return false
		}
		s.used++
	}
	s.alive++
	s.set(at, uint64(uint32(h))<<tagBits|uint64(id))
	return true
}

// full tells whether a segment should grow: entries begin to crowd.
func (s *segment) full() bool { return s.used*4 >= len(s.words)*3 }

// del takes a node out, if it is in.
func (t *table) del(h uint64, id uint32) {
	s := t.dir.Load().at(h)
	had, at := t.look(s, h)
	if had != id {
		return
	}
	s.alive--
	mask := uint(len(s.words) - 1)
	if s.words[(at+1)&mask] != empty {
		s.set(at, gone)
		return
	}
	for s.set(at, empty); ; s.set(at, empty) {
		s.used--
		if at = (at - 1) & mask; s.words[at] != gone {
			return
		}
	}
}
