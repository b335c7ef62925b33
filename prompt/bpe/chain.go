package bpe

import "slices"

// leaf is how many places have one minimum at the foot of a chain's tree.
const leaf = 16

// chain is a long piece while it is merged: a linked list of tokens in an
// array, and a tree of the lowest ranks. A merged token lives in the place of
// its left half; the right half's place is gone, and has no merge.
type chain struct {
	ids, ranks []uint32 // ranks: of the merge of each token and the next
	next, prev []int32
	// lowest[1] is the lowest rank of all, lowest[k] the lower of
	// lowest[2k] and lowest[2k+1]; the upper half are those of the leaves.
	lowest []uint32
}

// mergeLong does what mergeShort does, in time n log n.
func (t *Tokenizer) mergeLong(dst []uint32, c *chain, s string) []uint32 {
	c.reset(len(s))
	if t.sentence {
		c.ids = c.ids[:t.characters(c.ids, s)]
		for i := 1; i < len(c.ids); i++ {
			c.ranks[i-1] = t.pairs.find(c.ids[i-1], c.ids[i])
		}
	} else {
		c.ids = c.ids[:t.begin(c.ids, c.ranks, s)]
	}
	if len(c.ids) == 0 {
		return dst
	}
	c.ids = t.sweeps(c.ids, c.ranks)
	c.link()
	for c.lowest[1] != none {
		t.step(c, c.first())
	}
	for i := 0; i < len(c.ids); i = int(c.next[i]) {
		dst = append(dst, c.ids[i])
	}
	return dst
}

// step does the merge of the token at a place and the next.
func (t *Tokenizer) step(c *chain, at int) {
	right := c.next[at]
	after := c.next[right]
	c.ids[at], c.next[at] = t.pairs.joined[c.ranks[at]], after
	c.ranks[at], c.ranks[right] = none, none
	if int(after) < len(c.ids) {
		c.prev[after] = int32(at)
		c.ranks[at] = t.pairs.find(c.ids[at], c.ids[after])
	}
	c.renew(at / leaf)
	if int(right)/leaf != at/leaf {
		c.renew(int(right) / leaf)
	}
	if before := c.prev[at]; before >= 0 {
		c.ranks[before] = t.pairs.find(c.ids[before], c.ids[at])
		c.renew(int(before) / leaf)
	}
}

// reset makes room for n tokens.
func (c *chain) reset(n int) {
	c.ids = slices.Grow(c.ids[:0], n)[:n]
	c.ranks = slices.Grow(c.ranks[:0], n+leaf)[:n]
	c.next = slices.Grow(c.next[:0], n)[:n]
	c.prev = slices.Grow(c.prev[:0], n)[:n]
}

// link makes the list and the tree of the tokens that are left.
func (c *chain) link() {
	n := len(c.ids)
	for i := range c.ids {
		c.next[i], c.prev[i] = int32(i+1), int32(i-1)
	}
	leaves := 1
	for leaves*leaf < n {
		leaves *= 2
	}
	c.ranks = c.ranks[:(n+leaf-1)/leaf*leaf]
	for i := n - 1; i < len(c.ranks); i++ {
		c.ranks[i] = none
	}
	c.lowest = slices.Grow(c.lowest[:0], 2*leaves)[:2*leaves]
	for i := range leaves {
		c.lowest[leaves+i] = none
		if i*leaf < n {
			c.lowest[leaves+i] = c.of(i)
		}
	}
	for k := leaves - 1; k > 0; k-- {
		c.lowest[k] = min(c.lowest[2*k], c.lowest[2*k+1])
	}
}

// of is the lowest rank of a leaf.
func (c *chain) of(i int) uint32 {
	low := none
	for _, r := range c.ranks[i*leaf:][:leaf] {
		low = min(low, r)
	}
	return low
}

// renew brings the tree up to date with a leaf.
func (c *chain) renew(i int) {
	low := c.of(i)
	for k := len(c.lowest)/2 + i; k > 0 && c.lowest[k] != low; k /= 2 {
		c.lowest[k] = low
		low = min(low, c.lowest[k^1])
	}
}

// first is the leftmost place with the lowest rank.
func (c *chain) first() int {
	low, k := c.lowest[1], 1
	for k < len(c.lowest)/2 {
		if k *= 2; c.lowest[k] != low {
			k++
		}
	}
	i := (k - len(c.lowest)/2) * leaf
	for c.ranks[i] != low {
		i++
	}
	return i
}
