package cache

import "math/bits"

// Overlap is how much of a chain one worker is believed to hold.
type Overlap struct {
	Holder Holder
	Worker string
	GPU    int // blocks from the start, without a gap, in the GPU tier
	Blocks int // blocks from the start, without a gap, in any tier or expected; at least GPU
	Tokens int // Blocks in tokens
}

// Overlap appends every holder that has a prefix of chain. Engines always
// compute a prompt's last token, so a chain to be asked for should end before
// it: blocks of prompt[:len-1].
func (x *Index) Overlap(dst []Overlap, chain []uint64) []Overlap {
	if len(chain) == 0 {
		return dst
	}
	x.expire()
	x.mu.RLock()
	defer x.mu.RUnlock()
	var all, gpu [maxHolders]int
	set := x.depths(&all, chain, (*node).wholeSet)
	if set == 0 {
		return dst
	}
	x.depths(&gpu, chain, (*node).wholeGPUSet)
	for ; set != 0; set &= set - 1 {
		slot := bits.TrailingZeros64(set)
		o := x.holders[slot]
		dst = append(dst, Overlap{o.id, o.worker, gpu[slot], all[slot], all[slot] * x.block})
	}
	return dst
}

func (n *node) wholeSet() uint64    { return n.whole }
func (n *node) wholeGPUSet() uint64 { return n.wholeGPU }

// depths finds how many blocks of chain each holder has, and who has any. It
// looks at the last block first: a session's next turn is mostly held whole.
func (x *Index) depths(out *[maxHolders]int, chain []uint64, of func(*node) uint64) uint64 {
	some := x.at(chain[0], of)
	if some == 0 {
		return 0
	}
	full := x.at(chain[len(chain)-1], of) & some
	spread(out, full, len(chain))
	x.search(out, chain, of, some&^full, 1, len(chain)-1)
	return some
}

// search finds the depths of the holders in set, all of which have at least lo
// blocks and at most hi. Sets only fall along a chain (see settle), so half of
// the range is ruled out for each holder by one look.
func (x *Index) search(out *[maxHolders]int, chain []uint64, of func(*node) uint64, set uint64, lo, hi int) {
	for set != 0 && lo < hi {
		mid := (lo + hi + 1) / 2
		deep := x.at(chain[mid-1], of) & set
		if deep != set {
			x.search(out, chain, of, set&^deep, lo, mid-1)
		}
		set, lo = deep, mid
	}
	spread(out, set, lo)
}

func (x *Index) at(hash uint64, of func(*node) uint64) uint64 {
	if n := x.nodes.find(hash); n != nil {
		return of(n)
	}
	return 0
}

// spread sets the depth of all holders in set.
func spread(out *[maxHolders]int, set uint64, depth int) {
	for ; set != 0; set &= set - 1 {
		out[bits.TrailingZeros64(set)] = depth
	}
}
