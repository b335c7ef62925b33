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

// at is what is held of the first depth blocks, and the last one's node.
func (q *question) at(depth int) (*sets, uint32) {
	for {
		id, state := q.x.seek(q.chain, depth-1)
		if s := q.x.sets.at(uint32(state)); s.name() == uint32(state) {
			return s, id
		}
	}
}

// seek finds a block of a chain and its state, 0 when it is not known. It
// looks where the block's run should begin, and goes on from there.
func (x *Index) seek(chain []uint64, at int) (id uint32, state uint64) {
	i := at &^ lastBits
	id, state = x.own.peek(mix(chain[i]))
	for id != 0 && i < at {
		i++
		id, state = x.step(id, mix(chain[i]))
	}
	return id, state
}

// step finds the block of a mixed hash behind another: next in its run or,
// where another chain goes on there, at the beginning of one.
func (x *Index) step(id uint32, h uint64) (uint32, uint64) {
	if id++; place(id) != 0 {
		if state := x.nodes.state(id); uint32(state>>32) == upper(h) {
			return id, state
		}
	}
	return x.own.peek(h)
}

// answer looks at the last block first: a session's next turn is mostly held
// whole.
func (q *question) answer(dst []Overlap, known int) []Overlap {
	q.both(known-1, len(q.chain)-1)
	s, _ := q.at(known)
	if known > 1 && (s == nil || s.mask>>setWhole != 1) {
		known = 1
		s, _ = q.at(known)
	}
	from := len(dst)
	dst = q.begin(dst, s)
	q.out = dst[from:]
	if len(q.out) == 0 {
		return dst
	}
	end := s
	if known < len(q.chain) {
		last, id := q.at(len(q.chain))
		q.search(known, s, len(q.chain), last, id)
		end = last
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

// search finds where levels get worse between two depths; id is the node of the
// second. They do nothing else along a chain (see settle), so where both ends
// have the same whole sets, so has all between. It looks where the line parted
// from others, then where runs begin, and last within one.
func (q *question) search(lo int, a *sets, hi int, b *sets, id uint32) {
	if a.wholeSum() == b.wholeSum() {
		return
	}
	first, n := (lo-1)/runSize, (hi-1)/runSize-(lo-1)/runSize
	if n == 0 || n == 1 && (hi-1)%runSize == 0 {
		q.walk(lo, a, hi, b)
		return
	}
	if at := q.x.nodes.parting(id); id != 0 && lo < at && at < hi {
		q.both(at-1, at)
		m, mid := q.at(at)
		own, next := q.at(at + 1)
		q.search(lo, a, at, m, mid)
		q.search(at, m, at+1, own, next)
		q.search(at+1, own, hi, b, id)
		return
	}
	q.fetch(first, n)
	var at [ways]*sets
	var ids [ways]uint32
	parts := min(n, ways)
	for i := range parts {
		at[i], ids[i] = q.at((first+n*(i+1)/parts)*runSize + 1)
	}
	for i, m := range at[:parts] {
		to := (first+n*(i+1)/parts)*runSize + 1
		q.search(lo, a, to, m, ids[i])
		lo, a = to, m
	}
	q.search(lo, a, hi, b, id)
}

// both brings near what a look at two blocks will look at.
func (q *question) both(i, j int) {
	a, b := q.x.own.guess(mix(q.chain[i&^lastBits])), q.x.own.guess(mix(q.chain[j&^lastBits]))
	q.near += q.x.nodes.state(a) + q.x.nodes.state(b) + uint64(q.x.nodes.parting(b))
}

// fetch brings near what a search among the n runs behind one will look at.
func (q *question) fetch(first, n int) {
	var ids [ways]uint32
	parts := min(n, ways)
	for i := range parts {
		ids[i] = q.x.own.guess(mix(q.chain[(first+n*(i+1)/parts)*runSize]))
	}
	for _, id := range ids[:parts] {
		q.near += q.x.nodes.state(id)
	}
}

// walk is search block by block.
func (q *question) walk(lo int, a *sets, hi int, b *sets) {
	id, _ := q.x.seek(q.chain, lo-1)
	for d := lo + 1; d <= hi; d++ {
		m := b
		if d < hi {
			var state uint64
			id, state = q.x.step(id, mix(q.chain[d-1]))
			if m = q.x.sets.at(uint32(state)); m.name() != uint32(state) {
				m, _ = q.at(d)
			}
		}
		if a.wholeSum() != m.wholeSum() {
			q.lost(d-1, a, m)
		}
		a = m
	}
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
