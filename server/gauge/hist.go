package gauge

import (
	"math"
	"math/bits"
	"time"
)

// subBuckets divide each power of two, so that a quantile is at most 1/16
// (6 %) too high.
const subBuckets = 16

// Hist counts durations in logarithmic buckets from 16 µs to about an hour.
// The zero value is empty. It is not safe for concurrent use.
type Hist struct {
	n      uint32
	counts [28 * subBuckets]uint32
}

// Add counts d.
func (h *Hist) Add(d time.Duration) {
	h.n++
	h.counts[slot(d)]++
}

// Merge adds what o has counted.
func (h *Hist) Merge(o *Hist) {
	if o.n == 0 {
		return
	}
	h.n += o.n
	for i, c := range o.counts {
		h.counts[i] += c
	}
}

// N is how many durations were counted.
func (h *Hist) N() int { return int(h.n) }

// Quantile returns the upper bound of the bucket that holds the q-quantile,
// or a negative duration when nothing was counted.
func (h *Hist) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return -1
	}
	rank := uint32(math.Ceil(q * float64(h.n)))
	rank = max(rank, 1)
	var seen uint32
	for i, c := range h.counts {
		if seen += c; seen >= rank {
			return upper(i)
		}
	}
	return upper(len(h.counts) - 1)
}

// slot is the bucket of d: the position of its highest bit, in units of
// microseconds, and the bits below it.
func slot(d time.Duration) int {
	us := uint64(max(d.Microseconds(), subBuckets))
	exp := bits.Len64(us) - 5 // us>>exp is in [16, 32)
	i := exp*subBuckets + int(us>>exp) - subBuckets
	return min(i, 28*subBuckets-1)
}

// upper is the end of bucket i.
func upper(i int) time.Duration {
	exp, sub := i/subBuckets, i%subBuckets
	return time.Duration((subBuckets+sub+1)<<exp) * time.Microsecond
}
