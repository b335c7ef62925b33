package cache

import "math/bits"

// run is up to eight blocks one behind the other, as they lie in memory. A
// block's place in it is its depth modulo eight, so runs begin at each eighth
// block of a chain and where chains part, and only there must a table find
// them. A node's id is its run's, and its place in the last three bits.
//
// A node's state is what readers look at: in the upper half that of its mixed
// own hash, in the lower half the id of what is held of it
// (sets). Both are written at once, so whoever finds the bits of his hash
// there has the sets of that block, whatever the node was before or becomes.
// The rest is the writer's. Eight states fill a line of memory.
type run struct {
	state [runSize]uint64
	name  [runSize]uint64 // the mixed names that most engines have for them
	lower [runSize]uint32 // halves of the mixed own hashes

	parent     uint32 // the node that the first hangs by
	prev, next uint32 // first nodes of other runs that hang there; of free runs, next
	on         uint32 // first node of a run behind the last node

	// Sets of places.
	live  uint8 // all between the first and the last
	named uint8
	young uint8 // stored since the hand of evict passed
	parts uint8 // where other runs part from this, see nodes.parts

	// Where the run lies, for those who search; see nodes.parting.
	deep uint32 // how many runs are before it in its chain
	fork uint32 // how many blocks are before the line of runs that it is in
}

const (
	runBits  = 3
	runSize  = 1 << runBits
	runWords = 24
	lastBits = runSize - 1 // of an id: the place
)

// place is where in its run a node lies.
func place(id uint32) uint32 { return id & lastBits }

// places is the set of n places from a node's on.
func places(id uint32, n int) uint8 { return uint8(1<<n-1) << place(id) }

// first is the place of the first node.
func (r *run) first() uint32 { return uint32(bits.TrailingZeros8(r.live)) }

// clean makes ready a run that nothing lies in.
func (r *run) clean(parent uint32) {
	r.parent, r.prev, r.next, r.on = parent, 0, 0, 0
	r.live, r.named, r.young, r.parts = 0, 0, 0, 0
}
