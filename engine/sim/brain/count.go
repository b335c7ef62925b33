package brain

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
)

// maxKinds bounds the beginnings that are remembered.
const maxKinds = 4096

// kind is a beginning of prompts: the first tokens' hash, and how many they
// are at most.
type kind struct {
	prefix int
	hash   uint64
}

// counts counts the prompts seen of each kind. The zero value is ready.
type counts struct {
	mu   sync.Mutex // guards all below
	seed maphash.Seed
	n    map[kind]int
	ring []kind // in order of first sight
	next int
}

// see counts a prompt under the prefix lengths of all rules that ask for it,
// and returns how many came before it.
func (c *counts) see(rules []rule, prompt []uint32) func(prefix int) int {
	before := map[int]int{}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.seed, c.n = maphash.MakeSeed(), map[kind]int{}
	}
	for _, r := range rules {
		if _, ok := before[r.prefix]; ok || r.seen < 0 {
			continue
		}
		k := kind{r.prefix, c.hash(prompt[:min(r.prefix, len(prompt))])}
		before[r.prefix] = c.n[k]
		c.add(k)
	}
	return func(prefix int) int { return before[prefix] }
}

// add counts one more of k; mu must be held.
func (c *counts) add(k kind) {
	if _, ok := c.n[k]; !ok {
		if len(c.ring) < maxKinds {
			c.ring = append(c.ring, k)
		} else {
			delete(c.n, c.ring[c.next])
			c.ring[c.next] = k
			c.next = (c.next + 1) % maxKinds
		}
	}
	c.n[k]++
}

// hash must be called with mu held.
func (c *counts) hash(ids []uint32) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	var b [4]byte
	for _, id := range ids {
		binary.LittleEndian.PutUint32(b[:], id)
		h.Write(b[:])
	}
	return h.Sum64()
}
