package engine

// sight says what the number of a live KV batch means.
type sight uint8

const (
	fresh  sight = iota // the next one
	known               // it came by a replay already
	gap                 // some before it are missing
	reborn              // the engine counts from 0 again: a new life
)

// order follows the numbers of an engine's KV batches. Numbers of one life
// rise by one; there is no mark between two lives.
type order struct {
	next uint64 // the number after the last one taken
	live uint64 // one more than the last live number; 0 before the first
}

// see judges a live number. Live numbers rise within a life, so one that does
// not is a new life's; one below next that still rises came by replay before.
func (o *order) see(seq uint64) sight {
	switch {
	case o.live > 0 && seq < o.live:
		*o = order{live: seq + 1}
		return reborn
	case seq < o.next:
		o.live = seq + 1
		return known
	}
	o.live = seq + 1
	if seq > o.next {
		return gap
	}
	return fresh
}

// take notes that a batch was handed on.
func (o *order) take(seq uint64) { o.next = seq + 1 }
