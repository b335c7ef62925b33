package cache

// node is one distinct block of the tree that all prefixes form. Links are
// indices; 0 is none. A bit of a set is one holder's slot.
type node struct {
	hash uint64
	gpu  uint64 // held in the GPU tier
	low  uint64 // held in a lower tier
	soon uint64 // expected, see Expect

	wholeGPU uint64 // this block and all before it: in the GPU tier
	whole    uint64 // this block and all before it: held or expected

	parent, child uint32
	left, right   uint32 // siblings
}

// held is who has the block or is about to.
func (n *node) held() uint64 { return n.gpu | n.low | n.soon }

const (
	chunkBits = 12
	chunkSize = 1 << chunkBits
)

// nodes is the store of all nodes, found by own hash. Chunks never move, so a
// growing index copies nothing.
type nodes struct {
	at     map[uint64]uint32
	chunks []*[chunkSize]node
	used   uint32 // indices ever given out; 0 is none
	free   []uint32
	limit  int
}

func newNodes(limit int) nodes {
	return nodes{at: map[uint64]uint32{}, limit: limit}
}

func (s *nodes) node(i uint32) *node { return &s.chunks[i>>chunkBits][i&(chunkSize-1)] }

// find returns the node of an own hash, nil when nobody holds it.
func (s *nodes) find(hash uint64) *node {
	if i := s.at[hash]; i != 0 {
		return s.node(i)
	}
	return nil
}

// put returns the node of hash below parent and makes it when it is new. 0
// means that there is no room, or that two prefixes have one hash.
func (s *nodes) put(hash uint64, parent uint32) uint32 {
	if i := s.at[hash]; i != 0 {
		if s.node(i).parent != parent {
			return 0
		}
		return i
	}
	if len(s.at) >= s.limit {
		return 0
	}
	i := s.take()
	n := s.node(i)
	*n = node{hash: hash, parent: parent}
	s.at[hash] = i
	if parent != 0 {
		p := s.node(parent)
		n.right = p.child
		if p.child != 0 {
			s.node(p.child).left = i
		}
		p.child = i
	}
	return i
}

func (s *nodes) take() uint32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		return i
	}
	s.used++
	if int(s.used>>chunkBits) == len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkSize]node))
	}
	return s.used
}

// prune frees a node that nobody holds and that has nothing below it, and then
// its parents for which the same is true. Inner nodes that nobody holds stay
// while something below them is held: they carry the links.
func (s *nodes) prune(i uint32) {
	for i != 0 {
		n := s.node(i)
		if n.held() != 0 || n.child != 0 || s.at[n.hash] != i {
			return
		}
		switch {
		case n.left != 0:
			s.node(n.left).right = n.right
		case n.parent != 0:
			s.node(n.parent).child = n.right
		}
		if n.right != 0 {
			s.node(n.right).left = n.left
		}
		delete(s.at, n.hash)
		s.free = append(s.free, i)
		i = n.parent
	}
}
