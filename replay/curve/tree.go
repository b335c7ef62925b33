package curve

import (
	"math"

	"github.com/agentinfer/dyn/cache/policy"
	"github.com/agentinfer/dyn/replay/trace"
)

const never = policy.Never

// node is an edge of the tree while it is built: contents in a row.
type node struct {
	id     int // -1 of the root
	parent *node
	kids   map[uint64]*node // by first content
	parts  []trace.Run
	blocks int
	depth  int // blocks before it
}

// tree is the prompts of all turns, equal beginnings together.
type tree struct {
	root  *node
	all   []*node
	block int
	fresh uint64 // contents that never come again, counted down
}

func newTree(block int) *tree {
	return &tree{root: &node{id: -1}, block: block, fresh: math.MaxUint64}
}

// number names a node; -1 is none.
func (n *node) number() int { return n.id }

// end is how many blocks there are up to the node's end.
func (n *node) end() int { return n.depth + n.blocks }

// add puts contents behind the end of n and returns the node where they end.
func (t *tree) add(n *node, parts []trace.Run) *node {
	for len(parts) > 0 {
		kid := n.kids[parts[0].First]
		if kid == nil {
			return t.hang(n, parts)
		}
		same := common(kid.parts, parts)
		n = t.split(kid, same)
		parts = cut(parts, same)
	}
	return n
}

// hang makes a new node of contents.
func (t *tree) hang(n *node, parts []trace.Run) *node {
	kid := &node{id: len(t.all), parent: n, depth: n.end(), parts: parts}
	for _, p := range parts {
		kid.blocks += p.N
	}
	if n.kids == nil {
		n.kids = map[uint64]*node{}
	}
	n.kids[parts[0].First] = kid
	t.all = append(t.all, kid)
	return kid
}

// split cuts a node so that one ends after so many of its blocks, and returns
// that. The old one keeps its end, so who ends there need not be told.
func (t *tree) split(n *node, blocks int) *node {
	if blocks == n.blocks {
		return n
	}
	upper := &node{id: len(t.all), parent: n.parent, depth: n.depth, blocks: blocks}
	upper.parts = n.parts[:0:0]
	left := blocks
	for _, p := range n.parts {
		if left <= 0 {
			break
		}
		upper.parts = append(upper.parts, trace.Run{First: p.First, N: min(p.N, left)})
		left -= p.N
	}
	upper.parent.kids[n.parts[0].First] = upper
	n.parts, n.parent, n.depth, n.blocks = cut(n.parts, blocks), upper, n.depth+blocks, n.blocks-blocks
	upper.kids = map[uint64]*node{n.parts[0].First: n}
	t.all = append(t.all, upper)
	return upper
}

// at is the node that ends at a depth, in blocks, above or at n.
func (t *tree) at(n *node, depth int) *node {
	for n.parent != nil && n.depth >= depth {
		n = n.parent
	}
	if n.parent == nil {
		return n
	}
	return t.split(n, min(depth-n.depth, n.blocks))
}

// runs are the edges that have tokens, by number.
func (t *tree) runs() []run {
	rs := make([]run, len(t.all))
	for i, n := range t.all {
		rs[i] = run{n.parent.id, n.blocks * t.block, n.depth * t.block}
	}
	return rs
}

// common is how many contents two rows have in common from the start.
func common(a, b []trace.Run) (n int) {
	var i, j, x, y int // parts, and how far in them
	for i < len(a) && j < len(b) {
		if a[i].First+uint64(x) != b[j].First+uint64(y) {
			return n
		}
		step := min(a[i].N-x, b[j].N-y)
		n, x, y = n+step, x+step, y+step
		if x == a[i].N {
			i, x = i+1, 0
		}
		if y == b[j].N {
			j, y = j+1, 0
		}
	}
	return n
}

// cut is a row without its first n contents.
func cut(parts []trace.Run, n int) []trace.Run {
	for len(parts) > 0 && n >= parts[0].N {
		n, parts = n-parts[0].N, parts[1:]
	}
	if n == 0 || len(parts) == 0 {
		return parts
	}
	out := append([]trace.Run(nil), parts...)
	out[0].First += uint64(n)
	out[0].N -= n
	return out
}

// first is the first n contents of a row.
func first(parts []trace.Run, n int) (out []trace.Run) {
	for _, p := range parts {
		if n <= 0 {
			break
		}
		out = append(out, trace.Run{First: p.First, N: min(p.N, n)})
		n -= p.N
	}
	return out
}
