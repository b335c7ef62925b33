package sched

import "github.com/agentinfer/dyn/engine/sim/kv"

// Request is one answer in the making. Fill the exported fields of a new one,
// hand it to Add and leave it to the scheduler from then on; Held may be set
// between steps.
type Request struct {
	Tokens   []uint32  // the prompt, at least one token; the answer is appended
	Chain    []kv.Hash // hashes of the whole blocks of Tokens, or fewer
	Salt     string
	Priority int  // lower is more important
	Report   bool // tell the blocks that were hit once more
	Held     bool // leave it out of steps; it keeps its blocks

	// Cached is the number of prompt tokens found at the first admission, -1
	// before it. Preempted counts how often the request lost its blocks.
	Cached    int
	Preempted int

	arrival uint64
	prompt  int // tokens at Add
	blocks  []kv.Block
	done    int // tokens computed
	told    int // blocks announced or hit
	state   state
}

type state uint8

const (
	idle state = iota
	waiting
	running
)

// before orders waiting requests.
func (r *Request) before(o *Request) bool {
	if r.Priority != o.Priority {
		return r.Priority < o.Priority
	}
	return r.arrival < o.arrival
}
