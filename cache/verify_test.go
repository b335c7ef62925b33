package cache

import "math/bits"

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// verify checks an index against its own rules: levels follow from what is
// held, links and tables fit, nothing is kept that nobody needs, counts add up.
func verify(t failer, x *Index) {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	alive, bare := 0, 0
	held := map[int]map[uint32]uint8{} // by slot
	refs := map[*sets]int{}
	for id := uint32(1); id <= x.nodes.used; id++ {
		if !x.nodes.lives(id) {
			continue
		}
		alive++
		s := x.nodes.of(id)
		refs[s]++
		if s == nil {
			bare++
			if x.nodes.kid(id) == 0 {
				t.Fatalf("node %d is of no use", id)
			}
		}
		verifyNode(t, x, id)
		for slot := range x.slotted {
			if h, _ := s.held(slot); h != 0 {
				if held[slot] == nil {
					held[slot] = map[uint32]uint8{}
				}
				held[slot][id] = h
			}
		}
	}
	if alive != x.nodes.alive || bare != x.nodes.bare {
		t.Fatalf("%d nodes, %d bare, want %d, %d", x.nodes.alive, x.nodes.bare, alive, bare)
	}
	verifySets(t, x, refs)
	for _, o := range x.holders {
		if o == nil {
			continue
		}
		if x.slots[o.slot].Load() != o {
			t.Fatalf("%s is not in its slot", o.worker)
		}
		verifyHolder(t, x, o, held[o.slot])
		delete(held, o.slot)
	}
	for _, slot := range append(append([]int{}, x.sweep.dead...), x.sweep.pass...) {
		delete(held, slot)
	}
	if len(held) > 0 {
		t.Fatalf("slots that nobody has hold something: %v", held)
	}
}

func verifyNode(t failer, x *Index, id uint32) {
	t.Helper()
	h := x.nodes.hash(id)
	chain := pathOf(x, id)
	if got := x.find(chain, len(chain)-1); got != id {
		t.Fatalf("node %d is not found, but %d", id, got)
	}
	if _, got := x.seek(chain, len(chain)-1); uint32(got) != x.nodes.of(id).name() {
		t.Fatalf("a reader finds %x at node %d", got, id)
	}
	if got := x.own.find(h); x.nodes.begins(id) && got != id || !x.nodes.begins(id) && got == id {
		t.Fatalf("node %d is found as the begin of a run, or the other way round: %d", id, got)
	}
	if x.nodes.named(id) {
		if got := x.names.find(x.nodes.name(id)); got != id {
			t.Fatalf("node %d is not found by its name, but %d", id, got)
		}
	}
	p := x.nodes.parent(id)
	if p != 0 && !x.nodes.lives(p) {
		t.Fatalf("node %d hangs by a freed node", id)
	}
	if r, want := x.nodes.run(id), uint32(0); p != 0 {
		if want = x.nodes.run(p).deep; place(p) == lastBits {
			want++
		}
		if r.deep != want || r.fork > want<<runBits|place(id) {
			t.Fatalf("node %d lies in run %d of its chain, which parted at %d; want %d", id, r.deep, r.fork, want)
		}
	}
	for slot := range x.slotted {
		if x.slots[slot].Load() == nil {
			continue
		}
		held, level := x.nodes.of(id).held(slot)
		want := best(held)
		if p != 0 {
			_, above := x.nodes.of(p).held(slot)
			want = max(want, above)
		}
		if level != want {
			t.Fatalf("node %d: slot %d reaches level %d, want %d", id, slot, level, want)
		}
	}
	last := uint32(0)
	for c := x.nodes.kid(id); c != 0; c = x.nodes.next(c) {
		if x.nodes.parent(c) != id || place(c) != place(id+1) || x.nodes.begins(c) && x.nodes.run(c).prev != last {
			t.Fatalf("node %d is no child of %d", c, id)
		}
		if last = 0; x.nodes.begins(c) {
			last = c
		}
	}
}

// pathOf is the end of the chain that ends with a node, from where its run or
// that of one before it should begin.
func pathOf(x *Index, id uint32) []uint64 {
	chain := make([]uint64, place(id)+1)
	for i := range chain {
		chain[len(chain)-1-i] = unmix(x.nodes.hash(id))
		id = x.nodes.parent(id)
	}
	return chain
}

func verifySets(t failer, x *Index, refs map[*sets]int) {
	t.Helper()
	bytes := 0
	for _, s := range x.sets.by {
		if int(s.refs) != refs[s] {
			t.Fatalf("sets %x: %d references, want %d", s.id, s.refs, refs[s])
		}
		if x.sets.at(s.id) != s {
			t.Fatalf("sets %x are not in their place", s.id)
		}
		bytes += setsSize + 8*len(s.words)
		delete(refs, s)
	}
	delete(refs, nil)
	if len(refs) > 0 || bytes != x.sets.bytes {
		t.Fatalf("%d sets are not known; %d bytes, want %d", len(refs), x.sets.bytes, bytes)
	}
}

func verifyHolder(t failer, x *Index, o *holder, held map[uint32]uint8) {
	t.Helper()
	var cached [tierCount]int
	blocks, own := 0, map[uint32]uint8{}
	for i, r := range o.refs.vals {
		if r.node == 0 || !x.nodes.lives(r.node) || uint32(x.nodes.state(r.node)>>32) != r.check || held[r.node]&bitOwn == 0 {
			continue
		}
		if got := o.refs.get(o.refs.keys[i]); got != r {
			t.Fatalf("%s: a ref is not found", o.worker)
		}
		own[r.node] |= bitOwn
		for tier, c := range r.copies {
			if c > 0 {
				own[r.node] |= 1 << tier
			}
		}
	}
	for id, h := range held {
		if h&tierBits != 0 {
			blocks++
		}
		for m := h & tierBits; m != 0; m &= m - 1 {
			cached[bits.TrailingZeros8(m)]++
		}
		if h&bitOwn != 0 && own[id] != h {
			t.Fatalf("%s: node %d is held as %b, refs say %b", o.worker, id, h, own[id])
		}
		if _, ok := o.soon[id]; ok != (h&bitSoon != 0) {
			t.Fatalf("%s: node %d: expected %v, held as %b", o.worker, id, ok, h)
		}
	}
	if blocks != o.blocks || cached != o.cached {
		t.Fatalf("%s: %d blocks %v, counted %d %v", o.worker, blocks, cached, o.blocks, o.cached)
	}
	for id := range o.soon {
		if held[id]&bitSoon == 0 {
			t.Fatalf("%s: expects node %d without its bit", o.worker, id)
		}
	}
	if o.assumed != nil {
		verifyAssumed(t, x, o, held)
	}
}

// verifyAssumed holds the books of leaves to the tree.
func verifyAssumed(t failer, x *Index, o *holder, held map[uint32]uint8) {
	a, kids := o.assumed, map[uint32]int{}
	for id, h := range held {
		if p := x.nodes.parent(id); p != 0 && h&1 != 0 {
			kids[p]++
		}
	}
	leaves := 0
	for id, h := range held {
		if h&1 == 0 {
			continue // expected
		}
		_, leaf := a.leaves[id]
		if leaf = leaf || a.next.node == id; leaf != (kids[id] == 0) {
			t.Fatalf("%s: node %d has %d assumed behind it; a leaf: %v", o.worker, id, kids[id], leaf)
		}
		if leaf {
			leaves++
		} else if more := a.inner[id].more; more != kids[id]-1 {
			t.Fatalf("%s: node %d has %d assumed behind it, counted 1+%d", o.worker, id, kids[id], more)
		}
	}
	if n := len(a.leaves) + min(int(a.next.node), 1); n != leaves {
		t.Fatalf("%s: %d leaves, counted %d", o.worker, leaves, n)
	}
	for id := range a.inner {
		if kids[id] == 0 {
			t.Fatalf("%s: node %d is in the books as an inner one", o.worker, id)
		}
	}
}
