package cache

import (
	"sync/atomic"
	"unsafe"
)

// nodes are the distinct blocks of the tree that all prefixes form, 24 bytes
// each where runs are full, in chunks that never move. Links are ids; 0 is
// none.
type nodes struct {
	chunks atomic.Pointer[[]*chunk]
	mem    *memory
	sets   *interner
	used   uint32 // the last id of the runs ever given out
	free   uint32 // first of the free runs
	alive  int
	bare   int          // of them nobody holds: inner ones, for what hangs by them
	parts  flat[uint32] // by node: the first of the runs that part there, but for those behind a last node
}

type chunk [chunkSize]run

const (
	chunkBits = 9
	chunkSize = 1 << chunkBits

	maxNodes  = 1<<32 - 2*chunkSize*runSize
	partsSize = 12
)

// upper is the part of a mixed hash that lies in a node's state.
func upper(h uint64) uint32 { return uint32(h >> 32) }

func newNodes(mem *memory, sets *interner) *nodes {
	n := &nodes{mem: mem, sets: sets, used: lastBits}
	n.chunks.Store(new([]*chunk))
	n.reach(0)
	return n
}

// run is where a node lies.
func (n *nodes) run(id uint32) *run {
	return &(*n.chunks.Load())[id>>(chunkBits+3)][id>>3&(chunkSize-1)]
}

func (n *nodes) state(id uint32) uint64 {
	return atomic.LoadUint64(&n.run(id).state[place(id)])
}

// hash is a node's own hash, mixed.
func (n *nodes) hash(id uint32) uint64 {
	r := n.run(id)
	return r.state[place(id)]>>32<<32 | uint64(r.lower[place(id)])
}

func (n *nodes) name(id uint32) uint64 { return n.run(id).name[place(id)] }

func (n *nodes) setName(id uint32, name uint64) {
	r := n.run(id)
	r.name[place(id)] = name
	r.named |= 1 << place(id)
}

func (n *nodes) named(id uint32) bool { return n.run(id).named>>place(id)&1 != 0 }
func (n *nodes) lives(id uint32) bool { return n.run(id).live>>place(id)&1 != 0 }

// stamp notes that a node was stored just now, old whether it was not since
// the last time.
func (n *nodes) stamp(id uint32) { n.run(id).young |= 1 << place(id) }

func (n *nodes) old(id uint32) bool {
	r := n.run(id)
	young := r.young >> place(id) & 1
	r.young &^= 1 << place(id)
	return young == 0
}

func (n *nodes) parent(id uint32) uint32 {
	if r := n.run(id); place(id) == r.first() {
		return r.parent
	}
	return id - 1
}

// begins tells whether a node is the first of its run.
func (n *nodes) begins(id uint32) bool { return place(id) == n.run(id).first() }

// of is what is held of a node, nil when nothing is.
func (n *nodes) of(id uint32) *sets { return n.sets.at(uint32(n.state(id))) }

// hold sets what is held of a node.
func (n *nodes) hold(id uint32, s *sets) {
	at := &n.run(id).state[place(id)]
	was := uint32(*at)
	if s.name() == was {
		return
	}
	n.sets.use(s, 1)
	atomic.StoreUint64(at, *at>>32<<32|uint64(s.name()))
	if was == 0 {
		n.bare--
	} else if s == nil {
		n.bare++
	}
	n.sets.drop(was)
}

// room is where the next block behind parent goes: the place behind it in its
// run if that is free, else one in a new run. It is 0 when there is no memory.
func (n *nodes) room(parent uint32) uint32 {
	at := uint32(0)
	if parent != 0 {
		if at = place(parent + 1); at != 0 && !n.lives(parent+1) {
			return parent + 1
		}
	}
	if n.free != 0 {
		return n.free | at
	}
	if !n.reach(n.used + 1) {
		return 0
	}
	return n.used + 1 | at
}

// fill makes nodes of mixed own hashes one behind the other, from the room
// behind parent on, all held as told.
func (n *nodes) fill(id, parent uint32, keys []uint64, held *sets) {
	r := n.run(id)
	seen := r.live != 0
	if !seen {
		seen = n.open(id, r, parent)
	}
	for i, h := range keys {
		at := place(id + uint32(i))
		r.lower[at] = uint32(h)
		state := uint64(upper(h))<<32 | uint64(held.name())
		if seen {
			atomic.StoreUint64(&r.state[at], state)
		} else {
			r.state[at] = state // nobody looks at a run before the table has it
		}
	}
	set := places(id, len(keys))
	r.live |= set
	r.young |= set
	n.alive += len(keys)
	n.sets.use(held, len(keys))
	if held == nil {
		n.bare += len(keys)
	}
}

// open takes a run for a node behind parent; true means that it was used
// before.
func (n *nodes) open(id uint32, r *run, parent uint32) (seen bool) {
	if seen = n.free == id&^lastBits; seen {
		n.free = r.next
	} else {
		n.used = id | lastBits
	}
	r.clean(parent)
	n.lay(id, r, parent)
	if parent != 0 {
		n.hang(id, parent)
	}
	return seen
}

// lay notes where a run lies in its chain. It goes on the line of the one before
// if it is the first behind that one's end, and else begins one.
func (n *nodes) lay(id uint32, r *run, parent uint32) {
	fork := uint32(0)
	r.deep = 0
	if parent != 0 {
		before := n.run(parent)
		if r.deep = before.deep; place(parent) == lastBits {
			r.deep++
		}
		if fork = r.deep<<runBits | place(id); place(parent) == lastBits && before.on == 0 {
			fork = before.fork
		}
	}
	atomic.StoreUint32(&r.fork, fork)
}

// parting is how many blocks were before the place where the line of runs that a
// node is in parted from an older one: there, if anywhere, others go other ways.
// It is a guess: what lies there may have become something else.
func (n *nodes) parting(id uint32) int { return int(atomic.LoadUint32(&n.run(id).fork)) }

// reach makes sure that there is a chunk for a node.
func (n *nodes) reach(id uint32) bool {
	have := *n.chunks.Load()
	if int(id>>(chunkBits+3)) < len(have) {
		return true
	}
	if id > maxNodes {
		return false
	}
	words := n.mem.words(chunkSize * runWords)
	if words == nil {
		return false
	}
	more := append(have, (*chunk)(unsafe.Pointer(unsafe.SliceData(words))))
	n.mem.charge((cap(more) - cap(have)) * 8)
	n.chunks.Store(&more)
	return true
}

// giveBack frees a node that nobody holds and that nothing hangs by.
func (n *nodes) giveBack(id uint32) {
	r := n.run(id)
	begins := n.begins(id)
	atomic.StoreUint64(&r.state[place(id)], 0)
	r.live &^= 1 << place(id)
	r.named &^= 1 << place(id)
	r.young &^= 1 << place(id)
	n.alive--
	n.bare--
	if begins {
		if r.parent != 0 {
			n.unhang(r)
		}
		r.next = n.free
		n.free = id &^ lastBits
	}
}

// hang links a run below the node that its first one hangs by, as the first.
func (n *nodes) hang(id, parent uint32) {
	next := n.parted(parent)
	n.run(id).next = next
	if next != 0 {
		n.run(next).prev = id
	}
	n.setParted(parent, id)
}

// unhang is the opposite.
func (n *nodes) unhang(r *run) {
	if r.prev != 0 {
		n.run(r.prev).next = r.next
	} else {
		n.setParted(r.parent, r.next)
	}
	if r.next != 0 {
		n.run(r.next).prev = r.prev
	}
}

// parted is the first of the runs that hang by a node.
func (n *nodes) parted(id uint32) uint32 {
	r := n.run(id)
	if place(id) == lastBits {
		return r.on
	}
	if r.parts>>place(id)&1 == 0 {
		return 0
	}
	return n.parts.get(mix(uint64(id)))
}

func (n *nodes) setParted(id, to uint32) {
	r := n.run(id)
	switch bit := uint8(1) << place(id); {
	case place(id) == lastBits:
		r.on = to
	case to == 0:
		r.parts &^= bit
		n.parts.del(mix(uint64(id)))
	default:
		r.parts |= bit
		n.mem.charge(n.parts.put(mix(uint64(id)), to, partsSize))
	}
}

// kid is the first of the nodes behind one, 0 when there is none, and next
// the one after another.
func (n *nodes) kid(id uint32) uint32 {
	if place(id) != lastBits && n.lives(id+1) {
		return id + 1
	}
	return n.parted(id)
}

func (n *nodes) next(id uint32) uint32 {
	if n.begins(id) {
		return n.run(id).next
	}
	return n.parted(id - 1)
}
