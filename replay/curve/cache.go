package curve

import (
	"time"

	"github.com/agentinfer/dyn/cache/policy"
)

// cache holds the beginnings of runs.
type cache struct {
	p      *Plan
	rule   policy.Policy
	lapse  policy.Lapser // rule, if it gives up by itself
	wait   policy.Waiter // rule, if it hears of pauses
	size   int           // tokens
	used   int
	held   []held // by run
	leaves []*policy.Run
	path   []int // of the turn that is served, from the root
}

// held is what is held of a run.
type held struct {
	run        policy.Run
	tokens     int
	kid        int // the first run behind it that is held; -1 none
	prev, next int // its neighbours behind the same run
	leaf       int // place among the leaves; -1 is none
}

func newCache(p *Plan, rule policy.Policy, size int) *cache {
	c := &cache{p: p, rule: rule, size: size, held: make([]held, len(p.runs))}
	c.lapse, _ = rule.(policy.Lapser)
	c.wait, _ = rule.(policy.Waiter)
	for i, r := range p.runs {
		c.held[i] = held{run: policy.Run{ID: i, Tokens: r.tokens, Depth: r.depth}, kid: -1, prev: -1, next: -1, leaf: -1}
	}
	return c
}

// serve takes a turn in and tells how many tokens of its prompt were held.
func (c *cache) serve(i int) (hit int) {
	u := &c.p.turns[i]
	if c.wait != nil && u.pause >= 0 {
		c.wait.Returned(u.waited, u.pause)
	}
	c.walk(u)
	c.expire(u.at)
	hit = c.found(u)
	need := c.fix()
	for c.size-c.used < need {
		c.give(c.rule.Victim(c.leaves, u.at), need-(c.size-c.used), u.at)
	}
	c.fill(i, u)
	return hit
}

// walk finds the path of a turn, as far as all of it would fit.
func (c *cache) walk(u *play) {
	c.path = c.path[:0]
	for at := u.leaf; at >= 0; at = c.p.runs[at].parent {
		if r := &c.p.runs[at]; r.depth+r.tokens <= c.size {
			c.path = append(c.path, at)
		}
	}
	for a, b := 0, len(c.path)-1; a < b; a, b = a+1, b-1 {
		c.path[a], c.path[b] = c.path[b], c.path[a]
	}
}

// expire drops what the policy keeps no longer, as far as the turn would use it.
func (c *cache) expire(now time.Duration) {
	if c.lapse == nil {
		return
	}
	for _, at := range c.path {
		for h := &c.held[at]; h.tokens > 0 && c.lapse.Lapsed(&h.run, now); {
			c.give(&h.run, c.size, now)
		}
	}
}

// found is how much of the prompt is held.
func (c *cache) found(u *play) (hit int) {
	for _, at := range c.path {
		h := &c.held[at]
		hit += h.tokens
		if h.tokens < h.run.Tokens {
			break
		}
	}
	return min(hit, u.asked, u.prompt-1)
}

// fix keeps the path and tells what is missing of it.
func (c *cache) fix() (need int) {
	for _, at := range c.path {
		h := &c.held[at]
		h.run.Fixed = true
		need += h.run.Tokens - h.tokens
	}
	return need
}

// give takes up to n tokens from the end of a run, or of what lies behind it.
func (c *cache) give(v *policy.Run, n int, now time.Duration) {
	at := v.ID
	for c.held[at].kid >= 0 {
		at = c.held[at].kid
	}
	h := &c.held[at]
	n = min(n, h.tokens)
	h.tokens -= n
	c.used -= n
	if h.tokens > 0 {
		return
	}
	c.fall(at)
	c.rule.Gone(&h.run)
	h.run = policy.Run{ID: at, Tokens: h.run.Tokens, Depth: h.run.Depth}
}

// fill makes the path whole and tells the policy of its use.
func (c *cache) fill(i int, u *play) {
	for k, at := range c.path {
		h := &c.held[at]
		if h.tokens == 0 {
			c.grow(at)
		}
		c.used += h.run.Tokens - h.tokens
		h.tokens = h.run.Tokens
		r := &h.run
		r.Before, r.Turn, r.Last, r.Uses = r.Turn, i, u.at, r.Uses+1
		r.Line, r.Human, r.Over, r.Leased = u.line, u.human, u.last, u.leased
		r.Next = u.next[len(u.next)-1-k]
		r.Fixed = false
		c.rule.Used(r)
	}
}

// grow makes a run a leaf, and the one before it none.
func (c *cache) grow(at int) {
	h := &c.held[at]
	h.leaf = len(c.leaves)
	c.leaves = append(c.leaves, &h.run)
	up := c.p.runs[at].parent
	if up < 0 {
		return
	}
	c.prune(up)
	above := &c.held[up]
	if h.next = above.kid; h.next >= 0 {
		c.held[h.next].prev = at
	}
	above.kid = at
}

// fall takes a leaf away; the one before it may be one then.
func (c *cache) fall(at int) {
	c.prune(at)
	up := c.p.runs[at].parent
	if up < 0 {
		return
	}
	h, above := &c.held[at], &c.held[up]
	if h.prev >= 0 {
		c.held[h.prev].next = h.next
	} else {
		above.kid = h.next
	}
	if h.next >= 0 {
		c.held[h.next].prev = h.prev
	}
	h.prev, h.next = -1, -1
	if above.kid < 0 {
		above.leaf = len(c.leaves)
		c.leaves = append(c.leaves, &above.run)
	}
}

// prune takes a run out of the leaves, if it is one.
func (c *cache) prune(at int) {
	h := &c.held[at]
	if h.leaf < 0 {
		return
	}
	last := c.leaves[len(c.leaves)-1]
	c.leaves[h.leaf] = last
	c.held[last.ID].leaf = h.leaf
	c.leaves = c.leaves[:len(c.leaves)-1]
	h.leaf = -1
}
