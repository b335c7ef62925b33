package cache

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentinfer/dyn/turn"
)

// crowd is an index with many workers, and what each of them has: the copies
// of each block in each tier, and nothing more clever.
type crowd struct {
	x      *Index
	hs     []Holder
	has    []map[uint64]*[tierCount]int // by worker, by own hash
	chains [][]uint64
	tokens [][]uint32
}

func newCrowd(t *rapid.T, n int) *crowd {
	c := &crowd{x: NewIndex(size, Options{}), has: make([]map[uint64]*[tierCount]int, n)}
	for i := range n {
		c.join(t, i)
	}
	for k := range rapid.IntRange(1, 6).Draw(t, "chains") {
		var vs []uint32
		if k > 0 {
			from := c.tokens[rapid.IntRange(0, k-1).Draw(t, "of")]
			vs = append(vs, from[:rapid.IntRange(0, len(from)).Draw(t, "shared")]...)
		}
		for range rapid.IntRange(1, 40).Draw(t, "own") {
			vs = append(vs, uint32(100*k+len(vs)))
		}
		c.tokens = append(c.tokens, vs)
		c.chains = append(c.chains, chainOf(c.x, vs...))
	}
	return c
}

func (c *crowd) join(t *rapid.T, i int) {
	h, err := c.x.Join(fmt.Sprint("w", i))
	if err != nil {
		t.Fatal(err)
	}
	if i == len(c.hs) {
		c.hs = append(c.hs, h)
	}
	c.hs[i], c.has[i] = h, map[uint64]*[tierCount]int{}
}

// name is what a worker's engine calls a block: a third of them call it as the
// index, a third in a way of theirs, and each of the rest in its own.
func (c *crowd) name(i int, hash uint64) uint64 {
	return hash + uint64(i%3)*uint64(1+i%3/2*i)
}

// some draws which workers do something: one, a row of them, or at random.
func (c *crowd) some(t *rapid.T) (out []int) {
	n := len(c.hs)
	switch rapid.IntRange(0, 3).Draw(t, "who") {
	case 0:
		return []int{rapid.IntRange(0, n-1).Draw(t, "one")}
	case 1:
		from := rapid.IntRange(0, n-1).Draw(t, "from")
		for i := from; i <= rapid.IntRange(from, n-1).Draw(t, "to"); i++ {
			out = append(out, i)
		}
		return out
	}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	for i := range n {
		if r.IntN(2) == 0 {
			out = append(out, i)
		}
	}
	return out
}

// store has a worker store a part of a chain. What is before it has to be there.
func (c *crowd) store(i, k, from, to int, tier string) {
	chain := c.chains[k]
	for from > 0 && c.has[i][chain[from-1]] == nil {
		from--
	}
	ev := turn.KVEvent{Kind: turn.KVStored, BlockSize: size, Tokens: toks(c.tokens[k][from:to]...), Tier: tier}
	for _, hash := range chain[from:to] {
		ev.Hashes = append(ev.Hashes, c.name(i, hash))
		if c.has[i][hash] == nil {
			c.has[i][hash] = &[tierCount]int{}
		}
		c.has[i][hash][tierOf(tier)]++
	}
	if from > 0 {
		ev.Parent, ev.HasParent = c.name(i, chain[from-1]), true
	}
	c.x.Apply(c.hs[i], ev)
}

// remove has a worker lose a copy of a block, if it has one.
func (c *crowd) remove(i int, hash uint64, tier string) {
	n := c.has[i][hash]
	if n == nil || n[tierOf(tier)] == 0 {
		return
	}
	if n[tierOf(tier)]--; *n == [tierCount]int{} {
		delete(c.has[i], hash)
	}
	c.x.Apply(c.hs[i], turn.KVEvent{Kind: turn.KVRemoved, Tier: tier, Hashes: []uint64{c.name(i, hash)}})
}

// want is what a worker has of a chain, level by level.
func (c *crowd) want(i int, chain []uint64) (o Overlap) {
	depth := [tierCount]int{}
	for level := range depth {
		for _, hash := range chain {
			n := c.has[i][hash]
			if n == nil || best(held(n)) > level {
				break
			}
			depth[level]++
		}
	}
	o.Holder, o.Worker = c.hs[i], fmt.Sprint("w", i)
	o.GPU, o.Host, o.Disk, o.Remote = depth[0], depth[1]-depth[0], depth[2]-depth[1], depth[3]-depth[2]
	o.Blocks, o.Tokens = depth[3], depth[3]*size
	return o
}

func held(n *[tierCount]int) (set uint8) {
	for tier, copies := range n {
		if copies > 0 {
			set |= 1 << tier
		}
	}
	return set
}

// compare asks for every chain, whole and from what a turn before had.
func (c *crowd) compare(t *rapid.T) {
	for _, chain := range c.chains {
		got := map[Holder]Overlap{}
		for _, o := range c.x.Overlap(nil, chain) {
			got[o.Holder] = o
		}
		whole := len(chain) - rapid.IntRange(0, len(chain)-1).Draw(t, "new")
		known := map[Holder]Overlap{}
		for _, o := range c.x.Since(nil, chain, whole) {
			known[o.Holder] = o
		}
		homes := 0 // who have all of the turn before in the first tier
		for i := range c.hs {
			want := c.want(i, chain)
			if have, ok := got[c.hs[i]]; ok != (want.Blocks > 0) || ok && have != want {
				t.Fatalf("%d blocks: got %+v, want %+v", len(chain), have, want)
			}
			have, ok := known[c.hs[i]]
			if ok && have != want || !ok && want.GPU >= whole {
				t.Fatalf("from block %d of %d: got %+v, want %+v", whole, len(chain), have, want)
			}
			if want.GPU >= whole {
				homes++
			}
		}
		if n := len(known); n != len(got) && n != homes {
			t.Fatalf("from block %d of %d: %d are told, want %d or all %d", whole, len(chain), n, homes, len(got))
		}
	}
}

// TestManyHoldersModel has up to hundreds of workers store, lose and forget parts of
// the same prompts, in all tiers and under names of all kinds: what the index
// tells of each of them is what it has.
func TestManyHoldersModel(t *testing.T) {
	tiers := rapid.SampledFrom([]string{"gpu", "gpu", "gpu", "host", "disk", "remote"})
	rapid.Check(t, func(t *rapid.T) {
		c := newCrowd(t, rapid.SampledFrom([]int{1, 2, 63, 64, 65, 130, 300}).Draw(t, "workers"))
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			who, tier := c.some(t), tiers.Draw(t, "tier")
			k := rapid.IntRange(0, len(c.chains)-1).Draw(t, "chain")
			n := len(c.chains[k])
			switch what := rapid.SampledFrom([]string{"store", "store", "depths", "remove", "clear", "drop"}).Draw(t, "what"); what {
			case "store":
				from := rapid.IntRange(0, n-1).Draw(t, "from")
				to := rapid.IntRange(from+1, n).Draw(t, "to")
				for _, i := range who {
					c.store(i, k, from, to, tier)
				}
			case "depths":
				for at, i := range who {
					c.store(i, k, 0, 1+at%n, tier)
				}
			case "remove":
				at := rapid.IntRange(0, n-1).Draw(t, "at")
				for _, i := range who {
					c.remove(i, c.chains[k][at], tier)
				}
			default:
				for _, i := range who[:min(len(who), 5)] {
					if what == "drop" {
						c.x.Drop(c.hs[i])
						c.join(t, i)
					} else {
						c.x.Apply(c.hs[i], turn.KVEvent{Kind: turn.KVCleared})
						clear(c.has[i])
					}
				}
			}
		}
		c.compare(t)
		verify(t, c.x)
		if s := c.x.Stats(); s.Dropped() != 0 || s.Unknown != 0 {
			t.Fatalf("%+v", s)
		}
	})
}

// Readers are answered while a writer is held in the midst of its work, also
// where an expectation has ended that only a writer clears away.
func TestReadersWaitForNobody(t *testing.T) {
	now := time.Unix(0, 0)
	x := NewIndex(size, Options{Now: func() time.Time { return now }})
	hs := joined(t, x, 2)
	chain := talks(1, 0)[0]
	tell(x, hs[0], chain)
	x.Expect(hs[1], chain, time.Second)
	now = now.Add(time.Minute)
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, got := range [][]Overlap{x.Overlap(nil, chain), x.Since(nil, chain, talkBlocks-20)} {
		if len(got) != 1 || got[0].Worker != "w0" || got[0].GPU != talkBlocks {
			t.Errorf("%+v", got)
		}
	}
	if x.mu.TryLock() {
		t.Error("nobody held the writer")
	}
}
