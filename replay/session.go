package replay

import (
	"time"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/replay/trace"
)

// live is a session that is played.
type live struct {
	name   string
	src    *trace.Session
	index  int    // in the trace
	salt   uint64 // 0 when the trace's sessions are played for the first time
	turns  int    // of it, that are played
	turn   int    // the turn that runs, or comes next
	parent *live
	kids   int // sub-agents that run
	due    time.Duration

	line    []uint64 // contents of the trace, of turn built-1
	content []uint64 // of blocks of the workers' size
	chain   []uint64 // their hashes
	built   int      // turns that line, content and chain have seen

	home  int // worker of the last turn, -1 none
	slots []fleet.Slot

	leased bool           // it asked to be kept
	busy   bool           // it has a turn
	idle   time.Duration  // when its last turn ended
	warm   *fleet.Request // of that turn; nil before
}

// hasher makes chains of contents.
type hasher struct {
	seed          uint64
	block, native int
	ids           []uint32 // one block
	out           [1]uint64
}

func newHasher(seed uint64, block, native int) *hasher {
	return &hasher{seed: seed, block: block, native: native, ids: make([]uint32, block)}
}

// next is the hash of a block behind parent.
func (h *hasher) next(parent, content uint64) uint64 {
	write(h.ids, content)
	return cache.Extend(h.out[:0], parent, h.ids, h.block)[0]
}

// write makes a block's tokens of its content: two that tell it, and zeros
// that are there already.
func write(ids []uint32, content uint64) { ids[0], ids[1] = uint32(content), uint32(content>>32) }

// content is what is in block i of a line of the trace's contents.
func (h *hasher) content(line []uint64, i int, salt uint64) uint64 {
	of := func(j int) uint64 {
		c := line[j]
		if salt != 0 && c&trace.Common == 0 {
			c = trace.Mix(c, salt)
		}
		return c
	}
	switch {
	case h.block == h.native:
		return of(i)
	case h.block < h.native:
		r := h.native / h.block
		return trace.Mix(of(i/r), uint64(i%r))
	}
	r := h.block / h.native
	x := uint64(0)
	for j := i * r; j < (i+1)*r; j++ {
		x = trace.Mix(x, of(j))
	}
	return x
}

// build goes on with content and chain by the next turn; keep is how many of
// the hashes before stay.
func (l *live) build(h *hasher) (keep int) {
	u := &l.src.Turns[l.built]
	keep = min(u.Keep*h.native/h.block, len(l.chain))
	l.line = u.Contents(l.line)
	n := min(u.Prompt/h.block, len(l.line)*h.native/h.block)
	if keep > n {
		keep = n
	}
	if keep < len(l.chain) { // requests and events hold what is behind
		l.content = append(make([]uint64, 0, n+n/4), l.content[:keep]...)
		l.chain = append(make([]uint64, 0, n+n/4), l.chain[:keep]...)
	}
	parent := h.seed
	if keep > 0 {
		parent = l.chain[keep-1]
	}
	for i := keep; i < n; i++ {
		c := h.content(l.line, i, l.salt)
		parent = h.next(parent, c)
		l.content, l.chain = append(l.content, c), append(l.chain, parent)
	}
	l.built++
	return keep
}

// request makes the request of the session's turn, and prepares the next one
// where that repeats this one's answer. nonce makes contents that never come
// again.
func (l *live) request(h *hasher, nonce *uint64) (r *fleet.Request, blocks int) {
	u := &l.src.Turns[l.turn]
	for l.built <= l.turn {
		l.build(h)
	}
	blocks = min(u.Prompt/h.block, len(l.chain))
	content, chain := l.content[:blocks:blocks], l.chain[:blocks:blocks]
	all := (u.Prompt + u.Output - 1) / h.block
	if next := l.turn + 1; blocks == u.Prompt/h.block && next < l.turns && l.built == next &&
		l.src.Turns[next].Keep*h.native/h.block >= blocks && l.build(h) == blocks {
		n := min(all, len(l.chain))
		content, chain = l.content[:n:n], l.chain[:n:n]
	}
	r = &fleet.Request{Chain: chain, Content: content, Prompt: u.Prompt, Output: u.Output}
	parent := h.seed
	if len(chain) > 0 {
		parent = chain[len(chain)-1]
	}
	for range all - len(chain) {
		*nonce++
		c := trace.Mix(*nonce, 77)
		parent = h.next(parent, c)
		r.Tail, r.TailContent = append(r.Tail, parent), append(r.TailContent, c)
	}
	return r, blocks
}
