package cache

// verify checks an index against its own rules: whole sets follow from held
// sets, links fit, nothing is kept that nobody needs, counts add up.
func verify(t interface {
	Helper()
	Fatalf(string, ...any)
}, x *Index,
) {
	t.Helper()
	held := map[uint64]int{}
	for hash, i := range x.nodes.at {
		n := x.nodes.node(i)
		if n.hash != hash {
			t.Fatalf("node %d has hash %x, is found by %x", i, n.hash, hash)
		}
		gpu, all := ^uint64(0), ^uint64(0)
		if n.parent != 0 {
			p := x.nodes.node(n.parent)
			gpu, all = p.wholeGPU, p.whole
			if x.nodes.at[p.hash] != n.parent {
				t.Fatalf("node %d hangs by a freed node", i)
			}
		}
		if n.wholeGPU != gpu&n.gpu || n.whole != all&n.held() {
			t.Fatalf("node %d: whole sets %x %x, want %x %x", i, n.wholeGPU, n.whole, gpu&n.gpu, all&n.held())
		}
		if n.held() == 0 && n.child == 0 {
			t.Fatalf("node %d is of no use", i)
		}
		for c := n.child; c != 0; c = x.nodes.node(c).right {
			if x.nodes.node(c).parent != i {
				t.Fatalf("node %d is no child of %d", c, i)
			}
		}
		for slot := range x.holders {
			if (n.gpu|n.low)>>slot&1 != 0 {
				held[uint64(slot)]++
			}
		}
	}
	for slot, o := range x.holders {
		if o == nil {
			if held[uint64(slot)] != 0 {
				t.Fatalf("empty slot %d holds %d blocks", slot, held[uint64(slot)])
			}
			continue
		}
		distinct := map[uint32]bool{}
		var cached [tierCount]int
		for _, r := range o.refs {
			distinct[r.node] = true
			for tier, c := range r.copies {
				cached[tier] += min(int(c), 1)
			}
		}
		if o.assumed != nil {
			for n := range o.assumed.of {
				distinct[n] = true
			}
			cached[0] += len(o.assumed.of)
		}
		if len(distinct) != held[uint64(slot)] || cached != o.cached {
			t.Fatalf("%s: %d blocks in the tree, %d in refs; %v in tiers, want %v", o.worker, held[uint64(slot)], len(distinct), o.cached, cached)
		}
		for i, until := range o.soon {
			if x.nodes.node(i).soon&o.bit == 0 || until == 0 {
				t.Fatalf("%s: expects node %d without its bit", o.worker, i)
			}
		}
	}
}
