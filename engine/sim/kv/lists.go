package kv

// link puts b into the free ring behind at; at 0 is the queue's front.
func (p *Pool) link(b, at Block) {
	next := p.cells[at].next
	p.cells[b].prev, p.cells[b].next = at, next
	p.cells[at].next, p.cells[next].prev = b, b
	p.free++
}

// unlink takes b out of the free ring.
func (p *Pool) unlink(b Block) {
	c := &p.cells[b]
	p.cells[c.prev].next, p.cells[c.next].prev = c.next, c.prev
	p.free--
}

// remember gives b a hash. Blocks of equal hash form a ring: a prompt of whole
// blocks adds a copy of its last one each time it is repeated, so a list that
// had to be walked would grow long.
func (p *Pool) remember(b Block, h Hash) {
	c := &p.cells[b]
	c.hash, c.hashed, c.older, c.younger = h, true, b, b
	oldest, ok := p.byHash[h]
	if !ok {
		p.byHash[h] = b
		return
	}
	youngest := p.cells[oldest].older
	c.older, c.younger = youngest, oldest
	p.cells[youngest].younger, p.cells[oldest].older = b, b
}

// forget takes b's hash away.
func (p *Pool) forget(b Block) {
	c := &p.cells[b]
	c.hashed = false
	if c.younger == b {
		delete(p.byHash, c.hash)
		return
	}
	p.cells[c.older].younger, p.cells[c.younger].older = c.younger, c.older
	if p.byHash[c.hash] == b {
		p.byHash[c.hash] = c.younger
	}
}
