package bpe

import "slices"

// chain is a long piece while it is merged: a linked list of tokens in an
// array, and a heap of the merges that may be done. A merged token lives in
// the place of its left half; the right half's place is gone.
type chain struct {
	ids        []uint32
	next, prev []int32
	heap       []uint64 // rank<<32 | place of the left token, least first
}

// gone marks the place of a token that was merged into the one before it.
const gone = ^uint32(0)

// mergeLong does what mergeShort does, in time n log n.
func (t *Tokenizer) mergeLong(dst []uint32, c *chain, s string) []uint32 {
	c.reset(len(s))
	for i := range len(s) {
		c.ids[i] = t.bytes[s[i]]
		c.next[i], c.prev[i] = int32(i+1), int32(i-1)
	}
	for i := 1; i < len(s); i++ {
		if r := t.pairs.ofBytes(s[i-1], s[i]); r != none {
			c.heap = append(c.heap, place(r, int32(i-1)))
		}
	}
	for i := len(c.heap)/2 - 1; i >= 0; i-- {
		c.down(i)
	}
	for len(c.heap) > 0 {
		t.step(c, c.pop())
	}
	for i := 0; i < len(s); i = int(c.next[i]) {
		dst = append(dst, c.ids[i])
	}
	return dst
}

// step does the merge top, unless one of its tokens has changed since it was
// put on the heap: then the pair has another rank now, or none.
func (t *Tokenizer) step(c *chain, top uint64) {
	at := int32(uint32(top))
	right := c.next[at]
	if c.ids[at] == gone || int(right) == len(c.ids) {
		return
	}
	rank := t.pairs.find(c.ids[at], c.ids[right])
	if rank != uint32(top>>32) {
		return
	}
	after := c.next[right]
	c.ids[at], c.ids[right] = t.pairs.joined[rank], gone
	c.next[at] = after
	if int(after) < len(c.ids) {
		c.prev[after] = at
		t.offer(c, at, after)
	}
	if before := c.prev[at]; before >= 0 {
		t.offer(c, before, at)
	}
}

// offer puts the merge of two neighbours on the heap, if there is one.
func (t *Tokenizer) offer(c *chain, left, right int32) {
	if r := t.pairs.find(c.ids[left], c.ids[right]); r != none {
		c.push(place(r, left))
	}
}

// place is the heap's form of a merge: its rank and where it is.
func place(rank uint32, at int32) uint64 { return uint64(rank)<<32 | uint64(uint32(at)) }

// reset makes room for n tokens.
func (c *chain) reset(n int) {
	c.ids = slices.Grow(c.ids[:0], n)[:n]
	c.next = slices.Grow(c.next[:0], n)[:n]
	c.prev = slices.Grow(c.prev[:0], n)[:n]
	c.heap = slices.Grow(c.heap[:0], n)
}

// push adds x.
func (c *chain) push(x uint64) {
	c.heap = append(c.heap, x)
	h := c.heap
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up] <= h[i] {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// pop takes the least.
func (c *chain) pop() uint64 {
	top, last := c.heap[0], len(c.heap)-1
	c.heap[0] = c.heap[last]
	c.heap = c.heap[:last]
	c.down(0)
	return top
}

// down moves the entry at i to where it belongs below.
func (c *chain) down(i int) {
	h := c.heap
	for {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(h); k++ {
			if h[k] < h[least] {
				least = k
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
