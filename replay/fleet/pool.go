package fleet

import (
	"math"
	"time"
)

// Slot is the place of a block in a Pool.
type Slot int32

// cell is the state of one block. It is in the free ring exactly while refs is
// 0; prev and next are its neighbours there.
type cell struct {
	hash       uint64 // 0 is none
	refs       int32
	prev, next Slot
	used       time.Duration // when it was last let go
}

// Pool is the KV blocks of one worker. A block that nobody uses keeps its hash
// and can be hit until it is taken for other tokens; the one let go longest ago
// is taken first, of a turn's blocks the last. Slot 0 is the head of the ring.
type Pool struct {
	cells  []cell
	by     places
	free   int
	size   int
	gone   []uint64
	age    time.Duration // mean age of evicted blocks, moving
	evicts int
	choose func() (Slot, bool) // nil is LRU
}

// NewPool returns a pool of n blocks; 0 is as many as are asked for.
func NewPool(n int) *Pool {
	if n <= 0 {
		n = math.MaxInt32 - 1
	}
	return &Pool{size: n, free: n, cells: make([]cell, 1, min(n, 1<<16)+1)}
}

// Free is the number of blocks that nobody uses.
func (p *Pool) Free() int { return p.free }

// Find appends the slots of the start of chain that is held. hint are slots
// where these blocks were before: what is still there is not looked up.
func (p *Pool) Find(dst []Slot, chain []uint64, hint []Slot) []Slot {
	for i, h := range chain {
		if i < len(hint) && int(hint[i]) < len(p.cells) && p.cells[hint[i]].hash == h {
			dst = append(dst, hint[i])
			continue
		}
		s, ok := p.by.get(h)
		if !ok {
			break
		}
		dst = append(dst, s)
	}
	return dst
}

// Idle counts those of the slots that nobody uses.
func (p *Pool) Idle(list []Slot) (n int) {
	for _, s := range list {
		if p.cells[s].refs == 0 {
			n++
		}
	}
	return n
}

// Claim adds one use to each Slot.
func (p *Pool) Claim(list []Slot) {
	for _, s := range list {
		c := &p.cells[s]
		if c.refs == 0 {
			p.unlink(s)
		}
		c.refs++
	}
}

// Take appends n blocks for new tokens, one use each; the caller has looked at
// Free. Hashes that are lost by it are told by Gone.
func (p *Pool) Take(dst []Slot, n int, now time.Duration) []Slot {
	for ; n > 0; n-- {
		s := p.cells[0].next
		if bare := s != 0 && p.cells[s].hash == 0; !bare && len(p.cells) <= p.size {
			s = Slot(len(p.cells)) // one that was never used
			p.cells = append(p.cells, cell{})
			p.free--
		} else {
			if p.choose != nil && !bare {
				if other, ok := p.choose(); ok {
					s = other
				}
			}
			p.unlink(s)
		}
		c := &p.cells[s]
		if c.hash != 0 {
			p.forget(c, now)
		}
		c.refs = 1
		dst = append(dst, s)
	}
	return dst
}

// Choose lets somebody else say which block is taken when all have hashes: one
// that Idles, or false for the one let go longest ago.
func (p *Pool) Choose(f func() (Slot, bool)) { p.choose = f }

// Idles reports whether a block with that hash lies in a slot and nobody uses it.
func (p *Pool) Idles(s Slot, hash uint64) bool {
	return int(s) < len(p.cells) && p.cells[s].hash == hash && p.cells[s].refs == 0
}

// forget takes a block's hash away.
func (p *Pool) forget(c *cell, now time.Duration) {
	p.by.drop(c.hash)
	p.gone = append(p.gone, c.hash)
	c.hash = 0
	p.evicts++
	age := now - c.used
	if p.evicts == 1 {
		p.age = age
	}
	p.age += (age - p.age) / 200
}

// fill gives a block its hash. Of equal blocks the first keeps the hash; the
// others are copies that cannot be hit, and false is returned.
func (p *Pool) fill(s Slot, hash uint64) bool {
	if !p.by.add(hash, s) {
		return false
	}
	p.cells[s].hash = hash
	return true
}

// Release takes one use from each Slot, from the last to the first. Blocks
// without a hash are taken first of all again.
func (p *Pool) Release(list []Slot, now time.Duration) {
	for i := len(list) - 1; i >= 0; i-- {
		s := list[i]
		c := &p.cells[s]
		if c.refs--; c.refs > 0 {
			continue
		}
		c.used = now
		if c.hash == 0 {
			p.link(s, 0)
		} else {
			p.link(s, p.cells[0].prev)
		}
	}
}

// Gone returns the hashes lost since the last call; they hold until the next.
func (p *Pool) Gone() []uint64 {
	gone := p.gone
	p.gone = p.gone[:0]
	return gone
}

// Age is how long evicted blocks had lain unused, a moving mean; 0 while none
// was evicted.
func (p *Pool) Age() time.Duration { return p.age }

// link puts s into the ring behind at.
func (p *Pool) link(s, at Slot) {
	next := p.cells[at].next
	p.cells[s].prev, p.cells[s].next = at, next
	p.cells[at].next, p.cells[next].prev = s, s
	p.free++
}

// unlink takes s out of the ring.
func (p *Pool) unlink(s Slot) {
	c := &p.cells[s]
	p.cells[c.prev].next, p.cells[c.next].prev = c.next, c.prev
	p.free--
}

// Cached is the number of hashes that can be hit.
func (p *Pool) Cached() int { return p.by.used }
