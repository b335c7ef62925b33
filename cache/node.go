package cache

import "sync/atomic"

// nodes are the distinct blocks of the tree that all prefixes form, 28 bytes
// each, in chunks that never move. Links are ids; 0 is none.
//
// A node's state is what readers look at: in the upper half the middle 32 bits
// of its mixed own hash, in the lower half the id of what is held of it
// (sets). Both are written at once, so whoever finds the bits of his hash
// there has the sets of that block, whatever the node was before or becomes.
// The rest is the writer's.
type nodes struct {
	chunks atomic.Pointer[[]chunk]
	mem    *memory
	sets   *interner
	used   uint32 // ids ever given out
	free   uint32 // first of the free ones, linked by kid
	alive  int
	bare   int // of them nobody holds: inner ones, for what hangs by them
	sib    flat[links]
}

type chunk struct {
	state []uint64
	rest  []uint32 // five words a node
}

const (
	chunkBits = 12
	chunkSize = 1 << chunkBits

	// Words of a node's rest.
	nodeEnds   = 0 // the other 32 bits of the mixed own hash
	nodeName   = 1 // and 2: the mixed name that most engines have for it
	nodeParent = 3
	nodeKid    = 4
	nodeWords  = 5

	// Marks in nodeParent.
	isNamed = 1 << 31
	isYoung = 1 << 30 // stored since the hand of evict passed
	isFree  = 1 << 29
	parents = isFree - 1

	maxNodes = isFree - 2*chunkSize
)

// links are a node's brothers, kept only where there are any.
type links struct{ left, right uint32 }

const linksSize = 16

// middle is the part of a mixed hash that lies in a node's state.
func middle(h uint64) uint32 { return uint32(h >> tagBits) }

func newNodes(mem *memory, sets *interner) *nodes {
	n := &nodes{mem: mem, sets: sets}
	n.chunks.Store(new([]chunk))
	return n
}

func (n *nodes) state(id uint32) uint64 {
	return atomic.LoadUint64(&(*n.chunks.Load())[id>>chunkBits].state[id&(chunkSize-1)])
}

func (n *nodes) rest(id uint32) *[nodeWords]uint32 {
	at := id & (chunkSize - 1) * nodeWords
	return (*[nodeWords]uint32)((*n.chunks.Load())[id>>chunkBits].rest[at:])
}

// hash is a node's own hash, mixed.
func (n *nodes) hash(id uint32) uint64 {
	ends := uint64(n.rest(id)[nodeEnds])
	return ends&(1<<tagBits-1) | n.state(id)>>32<<tagBits | ends>>tagBits<<(tagBits+32)
}

func (n *nodes) name(id uint32) uint64 {
	r := n.rest(id)
	return uint64(r[nodeName]) | uint64(r[nodeName+1])<<32
}

func (n *nodes) setName(id uint32, name uint64) {
	r := n.rest(id)
	r[nodeName], r[nodeName+1] = uint32(name), uint32(name>>32)
	r[nodeParent] |= isNamed
}

func (n *nodes) named(id uint32) bool    { return n.rest(id)[nodeParent]&isNamed != 0 }
func (n *nodes) parent(id uint32) uint32 { return n.rest(id)[nodeParent] & parents }
func (n *nodes) lives(id uint32) bool    { return n.rest(id)[nodeParent]&isFree == 0 }

// of is what is held of a node, nil when nothing is.
func (n *nodes) of(id uint32) *sets { return n.sets.at(uint32(n.state(id))) }

// hold sets what is held of a node.
func (n *nodes) hold(id uint32, s *sets) {
	at := &(*n.chunks.Load())[id>>chunkBits].state[id&(chunkSize-1)]
	was := uint32(*at)
	if s.name() == was {
		return
	}
	n.sets.use(s)
	atomic.StoreUint64(at, *at>>32<<32|uint64(s.name()))
	if was == 0 {
		n.bare--
	} else if s == nil {
		n.bare++
	}
	n.sets.drop(was)
}

// take makes a node of a mixed own hash below parent, held as told; 0 when
// there is no memory.
func (n *nodes) take(h uint64, parent uint32, held *sets) uint32 {
	id, fresh := n.free, n.free == 0
	if !fresh {
		n.free = n.rest(id)[nodeKid]
	} else if id = n.used + 1; !n.reach(id) {
		return 0
	} else {
		n.used = id
	}
	*n.rest(id) = [nodeWords]uint32{nodeEnds: uint32(h&(1<<tagBits-1) | h>>(tagBits+32)<<tagBits), nodeParent: parent | isYoung}
	at := &(*n.chunks.Load())[id>>chunkBits].state[id&(chunkSize-1)]
	state := uint64(middle(h))<<32 | uint64(held.name())
	if fresh {
		*at = state // nobody looks at a node before the table has it
	} else {
		atomic.StoreUint64(at, state)
	}
	n.alive++
	if n.sets.use(held); held == nil {
		n.bare++
	}
	if parent != 0 {
		n.hang(id, parent)
	}
	return id
}

// reach makes sure that there is a chunk for a node.
func (n *nodes) reach(id uint32) bool {
	have := *n.chunks.Load()
	if int(id>>chunkBits) < len(have) {
		return true
	}
	if id > maxNodes {
		return false
	}
	room := n.mem.words(chunkSize + chunkSize*nodeWords/2)
	if room == nil {
		return false
	}
	more := append(have, chunk{room[:chunkSize], narrow(room[chunkSize:])})
	n.mem.charge((cap(more) - cap(have)) * 48)
	n.chunks.Store(&more)
	return true
}

// giveBack frees a node that hangs by none and by which none hangs.
func (n *nodes) giveBack(id uint32) {
	atomic.StoreUint64(&(*n.chunks.Load())[id>>chunkBits].state[id&(chunkSize-1)], 0)
	*n.rest(id) = [nodeWords]uint32{nodeParent: isFree, nodeKid: n.free}
	n.free = id
	n.alive--
	n.bare--
}

// hang links a node below its parent, as its first child.
func (n *nodes) hang(id, parent uint32) {
	p := n.rest(parent)
	if first := p[nodeKid]; first != 0 {
		n.link(id, links{0, first})
		n.link(first, links{id, n.brothers(first).right})
	}
	p[nodeKid] = id
}

// unhang is the opposite.
func (n *nodes) unhang(id, parent uint32) {
	l := n.brothers(id)
	if l.left != 0 {
		n.link(l.left, links{n.brothers(l.left).left, l.right})
	} else {
		n.rest(parent)[nodeKid] = l.right
	}
	if l.right != 0 {
		n.link(l.right, links{l.left, n.brothers(l.right).right})
	}
	n.link(id, links{})
}

func (n *nodes) brothers(id uint32) links { return n.sib.get(mix(uint64(id))) }

func (n *nodes) link(id uint32, l links) {
	if l == (links{}) {
		n.sib.del(mix(uint64(id)))
		return
	}
	n.mem.charge(n.sib.put(mix(uint64(id)), l, linksSize))
}

func (n *nodes) kid(id uint32) uint32 { return n.rest(id)[nodeKid] }
func (n *nodes) next(id uint32) uint32 {
	if n.sib.n == 0 {
		return 0
	}
	return n.brothers(id).right
}
