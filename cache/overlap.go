package cache

import (
	"math/bits"
	"runtime"
)

// Overlap is how much of a chain one worker is believed to hold, in blocks
// from the start without a gap.
type Overlap struct {
	Holder Holder
	Worker string
	GPU    int // in the GPU tier
	Host   int // behind those, in the host tier or again in the GPU's
	Disk   int // behind those, on disk or better
	Remote int // behind those, in any tier
	Blocks int // all of them, and what is expected behind or between them
	Tokens int // Blocks in tokens
}

// Overlap appends every holder that has a prefix of chain. Engines always
// compute a prompt's last token, so a chain to be asked for should end before
// it: blocks of prompt[:len-1]. It waits for nobody.
func (x *Index) Overlap(dst []Overlap, chain []uint64) []Overlap {
	return x.Since(dst, chain, 0)
}

// Since is Overlap for a chain that goes on from a turn of known blocks. If
// anybody holds all of those in the GPU tier, only such holders are told, which
// takes two looks however long the chain is; else it is Overlap.
func (x *Index) Since(dst []Overlap, chain []uint64, known int) []Overlap {
	if len(chain) == 0 {
		return dst
	}
	known = min(max(known, 1), len(chain))
	q := question{x: x, chain: chain, levels: levels}
	if !x.punctual() {
		q.levels = setSoon // rather too little than what ran out
	}
	from := len(dst)
	for {
		swept := x.swept.Load()
		dst = q.answer(dst[:from], known)
		if x.swept.Load() == swept {
			runtime.KeepAlive(x)
			return dst
		}
	}
}

// question is a chain that somebody asks for.
type question struct {
	x      *Index
	chain  []uint64
	levels int
	out    []Overlap // depths by level, see deep
	first  *sets     // of the block that every holder in out has
	rank   [slotWords]uint16
	near   uint64 // a sum that nobody needs, so that the compiler leaves it in
}

// at is what is held of the first depth blocks.
func (q *question) at(depth int) *sets {
	h := mix(q.chain[depth-1])
	for {
		id := q.x.own.sets(h)
		if s := q.x.sets.at(id); s.name() == id {
			return s
		}
	}
}

// answer looks at the last block first: a session's next turn is mostly held
// whole.
func (q *question) answer(dst []Overlap, known int) []Overlap {
	s := q.at(known)
	if known > 1 && (s == nil || s.mask>>setWhole != 1) {
		known = 1
		s = q.at(known)
	}
	from := len(dst)
	dst = q.begin(dst, s)
	q.out = dst[from:]
	if len(q.out) == 0 {
		return dst
	}
	end := s
	if known < len(q.chain) {
		end = q.at(len(q.chain))
		q.search(known, s, len(q.chain), end)
	}
	q.lost(len(q.chain), end, nil)
	return dst[:from+q.end()]
}

// begin appends a line for each holder that has the first block, and ranks
// slots by their line.
func (q *question) begin(dst []Overlap, s *sets) []Overlap {
	q.first = s
	if s == nil {
		return dst
	}
	n := 0
	for w := int(s.base); w < int(s.base)+int(s.n); w++ {
		q.rank[w] = uint16(n)
		for m := s.wholeWord(q.levels-1, w); m != 0; m &= m - 1 {
			dst = append(dst, Overlap{})
			if o := q.x.slots[w<<6|bits.TrailingZeros64(m)].Load(); o != nil {
				dst[len(dst)-1].Holder, dst[len(dst)-1].Worker = o.id, o.worker
			}
			n++
		}
	}
	return dst
}

// ways is into how many parts a search cuts a range at once: memory answers
// several looks in the time of one.
const ways = 8

// search finds where levels get worse between two depths. They do nothing
// else along a chain (see settle), so where both ends have the same whole sets,
// so has all between.
func (q *question) search(lo int, a *sets, hi int, b *sets) {
	if a.wholeSum() == b.wholeSum() {
		return
	}
	if hi-lo == 1 {
		q.lost(lo, a, b)
		return
	}
	if hi-lo < ways {
		mid := (lo + hi) / 2
		m := q.at(mid)
		q.search(lo, a, mid, m)
		q.search(mid, m, hi, b)
		return
	}
	var at [ways - 1]*sets
	near := uint64(0)
	for i := range at {
		near += q.x.own.touch(mix(q.chain[lo+(hi-lo)*(i+1)/ways-1]))
	}
	q.near += near
	for i := range at {
		at[i] = q.at(lo + (hi-lo)*(i+1)/ways)
	}
	from := lo
	for i, m := range at {
		to := lo + (hi-lo)*(i+1)/ways
		q.search(from, a, to, m)
		from, a = to, m
	}
	q.search(from, a, hi, b)
}

// lost notes the depth of those who reach levels at depth in a, and not one
// block deeper in b.
func (q *question) lost(depth int, a, b *sets) {
	if a == nil {
		return
	}
	for w := int(a.base); w < int(a.base)+int(a.n); w++ {
		var have, keep, noted uint64
		all := q.first.wholeWord(q.levels-1, w)
		for level := range q.levels {
			have |= a.word(setWhole+level, w)
			keep |= b.word(setWhole+level, w)
			gone := have &^ keep & all
			for m := gone &^ noted; m != 0; m &= m - 1 { // a level's depth is one of all behind it, see end

				line := int(q.rank[w]) + bits.OnesCount64(all&(m&-m-1))
				d := q.out[line].deep(level)
				*d = max(*d, depth)
			}
			noted = gone
		}
	}
}

// deep is where a line keeps the depth of a level.
func (o *Overlap) deep(level int) *int {
	switch level {
	case 0:
		return &o.GPU
	case 1:
		return &o.Host
	case 2:
		return &o.Disk
	case 3:
		return &o.Remote
	}
	return &o.Blocks
}

// end makes lines of depths, and returns how many there are.
func (q *question) end() (n int) {
	for i := range q.out {
		o := &q.out[i]
		host := max(o.GPU, o.Host)
		disk := max(host, o.Disk)
		remote := max(disk, o.Remote)
		o.Blocks = max(remote, o.Blocks)
		if o.Holder == 0 || o.Blocks == 0 {
			continue // its holder was cleared
		}
		o.Host, o.Disk, o.Remote = host-o.GPU, disk-host, remote-disk
		o.Tokens = o.Blocks * q.x.block
		if n < i {
			q.out[n] = *o
		}
		n++
	}
	return n
}
