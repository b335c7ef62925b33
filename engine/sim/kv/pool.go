package kv

// Block is the index of a block in its pool.
type Block int32

// cell is the state of one block. A block is in the free queue exactly while
// refs is 0; prev and next are its neighbours there. older and younger are its
// neighbours in the ring of blocks with the same hash.
type cell struct {
	hash           Hash
	refs           int32
	prev, next     Block
	older, younger Block
	hashed         bool
}

// Pool holds all blocks of the cache. Make one with New; it belongs to one
// goroutine.
type Pool struct {
	size   int
	cells  []cell // cells[0] is the head of the free ring
	free   int
	byHash map[Hash]Block // the oldest block of each hash
	events []Event
}

// New returns a pool of n blocks of size tokens each. One block is reserved,
// so n-1 can be used; n is at least 2.
func New(n, size int) *Pool {
	n = max(n, 2)
	p := &Pool{size: size, cells: make([]cell, n), byHash: make(map[Hash]Block)}
	for i := range p.cells {
		c := &p.cells[i]
		c.prev, c.next = Block(i-1), Block(i+1)
	}
	p.cells[0].prev, p.cells[n-1].next = Block(n-1), 0
	p.free = n - 1
	return p
}

// BlockSize is the number of tokens of a block.
func (p *Pool) BlockSize() int { return p.size }

// Usable is the number of blocks that can be given out.
func (p *Pool) Usable() int { return len(p.cells) - 1 }

// Free is the number of blocks that nobody uses; hashed ones count.
func (p *Pool) Free() int { return p.free }

// Cached is the number of distinct hashes held.
func (p *Pool) Cached() int { return len(p.byHash) }

// Lookup appends the blocks that hold the start of chain, at most limit.
// Of equal blocks the oldest is found. Nothing is taken yet.
func (p *Pool) Lookup(dst []Block, chain []Hash, limit int) []Block {
	for _, h := range chain[:min(limit, len(chain))] {
		b, ok := p.byHash[h]
		if !ok {
			break
		}
		dst = append(dst, b)
	}
	return dst
}

// Evictable counts the blocks of bs that are in the free queue: to use them
// costs free blocks although they are hits.
func (p *Pool) Evictable(bs []Block) int {
	n := 0
	for _, b := range bs {
		if p.cells[b].refs == 0 {
			n++
		}
	}
	return n
}

// Claim adds one use to each block of a Lookup.
func (p *Pool) Claim(bs []Block) {
	for _, b := range bs {
		if p.cells[b].refs == 0 {
			p.unlink(b)
		}
		p.cells[b].refs++
	}
}

// Take appends n blocks from the front of the free queue, one use each. A
// block that still had a hash loses it, with one Removed event. The caller
// has checked Free.
func (p *Pool) Take(dst []Block, n int) []Block {
	for ; n > 0; n-- {
		b := p.cells[0].next
		p.unlink(b)
		c := &p.cells[b]
		c.refs = 1
		if c.hashed {
			p.events = append(p.events, Event{Kind: Removed, Hashes: []Hash{c.hash}})
			p.forget(b)
		}
		dst = append(dst, b)
	}
	return dst
}

// Fill marks the blocks from..to of a request as filled: bs are all its
// blocks, chain and ids its hashes and tokens. They are told in one event.
func (p *Pool) Fill(bs []Block, chain []Hash, ids []uint32, from, to int, salt string) {
	if from >= to {
		return
	}
	for i := from; i < to; i++ {
		p.remember(bs[i], chain[i])
	}
	p.Report(chain, ids, from, to, salt)
}

// Report tells the blocks from..to of a request again, changing nothing.
func (p *Pool) Report(chain []Hash, ids []uint32, from, to int, salt string) {
	p.events = append(p.events, stored(chain, ids, p.size, from, to, salt))
}

// Release takes one use from each block, from the last to the first. Blocks
// then unused join the free queue: those without a hash at its front, the
// others at its end, each group in the order of release.
func (p *Pool) Release(bs []Block) {
	front := Block(0)
	for i := len(bs) - 1; i >= 0; i-- {
		b := bs[i]
		c := &p.cells[b]
		if c.refs--; c.refs > 0 {
			continue
		}
		if c.hashed {
			p.link(b, p.cells[0].prev)
		} else {
			p.link(b, front)
			front = b
		}
	}
}

// Reset wipes all hashes and leaves the order of the free queue as it is. It
// does nothing and returns false while any block is in use.
func (p *Pool) Reset() bool {
	if p.free != p.Usable() {
		return false
	}
	clear(p.byHash)
	for i := range p.cells {
		p.cells[i].hashed = false
	}
	p.events = append(p.events, Event{Kind: Cleared})
	return true
}

// Flush returns the events since the last Flush, nil when nothing happened.
func (p *Pool) Flush() []Event {
	ev := p.events
	p.events = nil
	return ev
}
