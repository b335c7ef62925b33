package bpe

import "slices"

// chain is a long piece while it is merged: a linked list of tokens in an
// array, and the merges that may be done: those of the piece's bytes in a
// sorted list, those that came up since in a heap. A merged token lives in
// the place of its left half; the right half's place is gone.
type chain struct {
	ids, ranks []uint32
	next, prev []int32
	sorted     []uint64 // the merges of two bytes, see place
	first      []uint64 // what is left of them
	heap       []uint64 // merges that came up since, least on top
}

// gone marks the place of a token that was merged into the one before it.
const gone = ^uint32(0)

// mergeLong does what mergeShort does, in time n log n.
func (t *Tokenizer) mergeLong(dst []uint32, c *chain, s string) []uint32 {
	c.reset(len(s))
	if t.sentence {
		c.ids = c.ids[:t.characters(c.ids, s)]
	} else {
		for i := range len(s) {
			c.ids[i] = t.bytes[s[i]]
		}
	}
	for i := 1; i < len(c.ids); i++ {
		c.ranks[i-1] = t.pairs.find(c.ids[i-1], c.ids[i])
	}
	c.ids = t.sweeps(c.ids, c.ranks)
	for i := range c.ids {
		c.next[i], c.prev[i] = int32(i+1), int32(i-1)
		if i > 0 && c.ranks[i-1] != none {
			c.sorted = append(c.sorted, place(c.ranks[i-1], int32(i-1)))
		}
	}
	slices.Sort(c.sorted)
	c.first = c.sorted
	for top, ok := c.pop(); ok; top, ok = c.pop() {
		t.step(c, top)
	}
	for i := 0; i < len(c.ids); i = int(c.next[i]) {
		dst = append(dst, c.ids[i])
	}
	return dst
}

// step does the merge top, unless one of its tokens has changed since it was
// found: then the pair has another rank now, or none.
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
	c.ranks = slices.Grow(c.ranks[:0], n)[:n]
	c.next = slices.Grow(c.next[:0], n)[:n]
	c.prev = slices.Grow(c.prev[:0], n)[:n]
	c.sorted, c.heap = slices.Grow(c.sorted[:0], n), c.heap[:0]
}

// push adds x.
func (c *chain) push(x uint64) {
	c.heap = append(c.heap, x)
	h, i := c.heap, len(c.heap)-1
	for i > 0 && x < h[(i-1)/2] {
		h[i], i = h[(i-1)/2], (i-1)/2
	}
	h[i] = x
}

// pop takes the least of what was there first and what came since.
func (c *chain) pop() (least uint64, ok bool) {
	if len(c.heap) == 0 || len(c.first) > 0 && c.first[0] < c.heap[0] {
		if len(c.first) == 0 {
			return 0, false
		}
		least, c.first = c.first[0], c.first[1:]
		return least, true
	}
	least = c.heap[0]
	last := len(c.heap) - 1
	x := c.heap[last]
	if c.heap = c.heap[:last]; last > 0 {
		c.sink(x)
	}
	return least, true
}

// sink moves x, which takes the place at the top, to where it belongs.
func (c *chain) sink(x uint64) {
	h, i := c.heap, 0
	for {
		k := 2*i + 1
		if k+1 >= len(h) {
			if k < len(h) && h[k] < x {
				h[i], i = h[k], k
			}
			break
		}
		if h[k+1] < h[k] {
			k++
		}
		if x <= h[k] {
			break
		}
		h[i], i = h[k], k
	}
	h[i] = x
}
