package fleet

import "time"

// Request is a turn at a worker. Fill the exported fields up to Hint and hand
// it to Submit; the rest is the worker's to fill.
type Request struct {
	Chain       []uint64 // hashes of the blocks that prompt and answer fill, as many as are known
	Content     []uint64 // what is in them, for the events
	Tail        []uint64 // hashes behind Chain, of what no other prompt has
	TailContent []uint64
	Prompt      int // tokens
	Output      int
	Hint        []Slot // where Chain's blocks lay when last seen at this worker: Slots of an earlier request
	Owner       int    // whatever the caller likes
	Save        bool   // to the host tier, where that takes what is asked for

	Cached    int           // tokens found at first admission, in any tier
	Loaded    int           // of those from the host tier
	First     time.Duration // when the first token was there; 0 before
	Ended     time.Duration // when the last one was
	Preempted int

	slots  []Slot
	done   int // tokens computed
	gen    int // tokens generated
	filled int // blocks with a hash or a copy of one
	target int // tokens to compute before the next is generated
	chunk  int // of those, in this step
	seen   bool
	ready  time.Duration // when what it loads is there
}

// Slots tells where the blocks of a request that ended lie, for the Hint of one
// that goes on from it.
func (r *Request) Slots() []Slot { return r.slots }

// prefilling reports whether tokens of the prompt are still to be computed.
func (r *Request) prefilling() bool { return r.done < r.target }

// hash is the hash of block i.
func (r *Request) hash(i int) uint64 {
	if i < len(r.Chain) {
		return r.Chain[i]
	}
	return r.Tail[i-len(r.Chain)]
}

// known is how many blocks have a hash.
func (r *Request) known() int { return len(r.Chain) + len(r.Tail) }

// Event tells of blocks of one worker: those that were stored, in a row behind
// Parent, or hashes that were removed.
type Event struct {
	Worker    int
	At        time.Duration
	Stored    []uint64 // hashes
	Content   []uint64 // of them
	Parent    uint64
	HasParent bool
	Removed   []uint64
}
