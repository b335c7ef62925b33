package cache

// clear drops all that a holder's events told, in time that grows with what it
// holds. What it is expected to store stays expected.
func (x *Index) clear(o *holder) {
	gone := make([]uint32, 0, len(o.refs))
	for _, r := range o.refs {
		n := x.nodes.node(r.node)
		n.gpu &^= o.bit
		n.low &^= o.bit
		n.whole &^= o.bit
		n.wholeGPU &^= o.bit
		gone = append(gone, r.node)
	}
	o.refs, o.alias = map[uint64]ref{}, map[alias]int{}
	o.cached = [tierCount]int{}
	o.parked = parked{}
	// Expected blocks are whole now only where all before them are expected.
	for i := range o.soon {
		x.nodes.node(i).whole &^= o.bit
	}
	for i := range o.soon {
		if x.nodes.node(i).parent == 0 {
			x.settle(i, o.bit)
		}
	}
	x.pruneAll(gone)
}

// forgetAll drops everything about a holder but its place.
func (x *Index) forgetAll(o *holder) {
	gone := make([]uint32, 0, len(o.soon))
	for i := range o.soon {
		n := x.nodes.node(i)
		n.soon &^= o.bit
		n.whole &^= o.bit
		gone = append(gone, i)
	}
	o.soon = map[uint32]int64{}
	x.unassume(o)
	x.clear(o)
	x.pruneAll(gone)
}

// pruneAll frees those of the nodes that nobody needs. A node may be freed
// while it waits in the list, as another's parent; prune sees that.
func (x *Index) pruneAll(list []uint32) {
	for _, i := range list {
		x.nodes.prune(i)
	}
}
