package engine

// sight says what the number of a live KV batch means.
type sight uint8

const (
	fresh  sight = iota // the next one
	known               // it was taken already: it came by a replay, or comes twice
	gap                 // some before it are missing
	reborn              // another life's: the engine counts from 0 again
)

// remembered is how many of the last batches are known again by their sums.
const remembered = 1 << 10

// order follows the numbers of an engine's KV batches. Numbers of one life
// rise by one, and there is no mark between two lives. Since a batch holds the
// time at which it was made, its sum tells it from that of another life with
// the same number, however the engine's clock goes.
type order struct {
	next uint64 // the number after the last one taken
	live uint64 // one more than the last live number; 0 before the first
	low  uint64 // the first number of those taken without a hole, up to next
	sums [remembered]uint64
}

// see judges a live batch by its number and sum.
//
// A number that was passed is the same batch again, or a new life's. Where its
// sum is not known any more, one that still rises came by a long replay; one
// that does not may be either, and is taken for a new life's: to forget is
// never wrong.
func (o *order) see(seq, sum uint64) sight {
	if seq >= o.next {
		o.live = seq + 1
		if seq > o.next {
			return gap
		}
		return fresh
	}
	if was, ok := o.sum(seq); ok && was == sum || !ok && seq >= o.live {
		o.live = max(o.live, seq+1)
		return known
	}
	*o = order{live: seq + 1}
	return reborn
}

// take notes that a batch was handed on.
func (o *order) take(seq, sum uint64) {
	if seq != o.next {
		o.low = seq
	}
	o.sums[seq%remembered] = sum
	o.next = seq + 1
}

// sum is that of a batch that was taken lately.
func (o *order) sum(seq uint64) (sum uint64, ok bool) {
	ok = seq < o.next && seq >= o.low && o.next-seq <= remembered
	return o.sums[seq%remembered], ok
}

// skip goes on at a number, without those before it.
func (o *order) skip(seq uint64) { o.next, o.low = seq, seq }
