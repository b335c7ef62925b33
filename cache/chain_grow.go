package cache

import (
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// Chain keeps the block hashes of one line of prompts, each of which mostly
// goes on from the one before: only what is new is hashed. The zero value is
// ready. It belongs to one goroutine at a time.
type Chain struct {
	seed   uint64
	block  int
	hashes []uint64 // never written where they were handed out
}

// Of returns what ExtendIDs makes of ids from nothing; same tells how many of
// the first ids are those of the call before. The hashes are not to be
// written; they stay as they are while the Chain goes on. Where ids go on from
// the call before, a call costs and allocates by what is new, averaged over
// calls; otherwise the common hashes are copied.
func (c *Chain) Of(seed uint64, ids turn.IDs, block, same int) []uint64 {
	if block <= 0 {
		return nil
	}
	keep := min(same/block, len(c.hashes))
	if seed != c.seed || block != c.block {
		keep = 0
	}
	all := ids.Len() / block
	if keep < len(c.hashes) { // what comes behind was handed out
		c.hashes = append(make([]uint64, 0, all+all/8+8), c.hashes[:keep]...)
	}
	c.seed, c.block = seed, block
	c.hashes = ExtendIDs(slices.Grow(c.hashes, all-keep), seed, ids, block)
	return slices.Clip(c.hashes)
}

// Clone returns a Chain that goes its own way from here.
func (c *Chain) Clone() Chain {
	return Chain{c.seed, c.block, slices.Clip(c.hashes)}
}

// Bytes tells how much memory the Chain holds.
func (c *Chain) Bytes() int { return 8 * cap(c.hashes) }
