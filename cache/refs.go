package cache

import "math"

// What an engine's name stands for.
//
// Engines of one kind mostly name a block alike, so a node carries one name,
// found by the table of names, and a holder who uses that name for one copy in
// each tier needs nothing of its own: the sets say all. Every other name and
// every second copy is a ref in the holder's own table; then all that the
// holder has of the node is there, and its bit in setOwn says so. So a fleet
// with one way to name blocks pays nothing for a further holder, and one whose
// names differ by worker pays 20 bytes and the slack of a table.

// ref is what a name of a holder's own stands for: a node, and how many copies
// of it lie in each tier. check tells that the node is still that block.
type ref struct {
	node   uint32
	check  uint32
	copies [tierCount]uint8
}

const refSize = 8 + 12

// many counts the refs of a holder to one node: all, and by tier those that
// have a copy there.
type many struct {
	refs  int
	tiers [tierCount]int
}

// ref finds what a mixed name means to a holder; own tells that it is in the
// holder's own table.
func (x *Index) ref(o *holder, name uint64) (r ref, own bool) {
	if r = o.refs.get(name); r.node != 0 {
		if x.nodes.lives(r.node) && uint32(x.nodes.state(r.node)>>32) == r.check && x.nodes.of(r.node).has(setOwn, o.slot) {
			return r, true
		}
		o.refs.del(name) // it was evicted
	}
	id := x.names.find(name)
	if id == 0 {
		return ref{}, false
	}
	held, _ := x.nodes.of(id).held(o.slot)
	if held&tierBits == 0 || held&bitOwn != 0 || !o.fed {
		return ref{}, false
	}
	return x.plain(id, held), false
}

// plain is a ref as the sets tell it: a copy in each tier.
func (x *Index) plain(id uint32, held uint8) ref {
	r := ref{node: id, check: uint32(x.nodes.state(id) >> 32)}
	for t := range tierCount {
		r.copies[t] = held >> t & 1
	}
	return r
}

// hold notes one more copy of a block.
func (x *Index) hold(o *holder, name uint64, id uint32, tier int) {
	if o.refs.n == 0 && x.nodes.named(id) && x.nodes.name(id) == name {
		if held, _ := x.nodes.of(id).held(o.slot); held>>tier&1 == 0 {
			x.change(o, id, held|1<<tier)
			return
		}
	}
	r, own := x.ref(o, name)
	if r.node != 0 && r.node != id {
		// The engine uses the name for another block now; it must have lost
		// the old one without a word. The old node goes last: this one may
		// hang by it.
		x.count.misfit++
		x.release(o, name, r, own)
		defer x.prune(r.node)
		r, own = ref{}, false
	}
	held, _ := x.nodes.of(id).held(o.slot)
	switch {
	case own:
	case r.node != 0 && held>>tier&1 == 0:
		x.change(o, id, held|1<<tier)
		return
	case r.node != 0: // a second copy
		held |= bitOwn
	case held&tierBits == 0 && x.call(id, name):
		x.change(o, id, held|1<<tier)
		return
	default: // a name of its own
		held = x.another(o, id, held)
		r = ref{node: id, check: uint32(x.nodes.state(id) >> 32)}
	}
	if r.copies[tier] == math.MaxUint8 {
		return // removed too early is better than never
	}
	if r.copies[tier]++; r.copies[tier] == 1 {
		if m, ok := o.many[id]; ok {
			m.tiers[tier]++
			o.many[id] = m
		}
	}
	x.putRef(o, name, r)
	x.change(o, id, held|1<<tier)
}

// call reports whether a node goes by a name, giving it the name if neither
// has another.
func (x *Index) call(id uint32, name uint64) bool {
	if x.nodes.named(id) {
		return x.nodes.name(id) == name
	}
	if !x.names.put(name, id) {
		return false
	}
	x.nodes.setName(id, name)
	return true
}

// another makes room for one more ref of a holder to a node: those it has so
// far are counted, and a plain one becomes a ref of its own.
func (x *Index) another(o *holder, id uint32, held uint8) uint8 {
	if held&tierBits == 0 {
		return held | bitOwn
	}
	m, ok := o.many[id]
	if !ok {
		m.refs = 1
		for t := range tierCount {
			m.tiers[t] = int(held >> t & 1)
		}
	}
	m.refs++
	if o.many == nil {
		o.many = map[uint32]many{}
	}
	o.many[id] = m
	if held&bitOwn == 0 {
		x.putRef(o, x.nodes.name(id), x.plain(id, held))
	}
	return held | bitOwn
}

func (x *Index) putRef(o *holder, name uint64, r ref) {
	x.mem.charge(o.refs.put(name, r, refSize))
}

// lose notes one copy less of what a name stands for.
func (x *Index) lose(o *holder, name uint64, r ref, own bool, tier int) {
	if r.copies[tier]--; r.copies[tier] > 0 {
		x.putRef(o, name, r)
		return
	}
	x.leave(o, name, r, own, 1<<tier)
	x.prune(r.node)
}

// release takes back all that a name stands for; its node is not pruned yet.
func (x *Index) release(o *holder, name uint64, r ref, own bool) {
	var gone uint8
	for t, c := range r.copies {
		if c > 0 {
			gone |= 1 << t
		}
	}
	r.copies = [tierCount]uint8{}
	x.leave(o, name, r, own, gone)
}

// leave takes a holder out of the sets of the tiers in gone, where r has no
// copies any more, unless another name keeps it there.
func (x *Index) leave(o *holder, name uint64, r ref, own bool, gone uint8) {
	held, _ := x.nodes.of(r.node).held(o.slot)
	empty := r.copies == [tierCount]uint8{}
	if own && empty {
		o.refs.del(name)
	} else if own {
		x.putRef(o, name, r)
	}
	m, ok := o.many[r.node]
	if !ok {
		if held &^= gone; held&tierBits == 0 {
			held &^= bitOwn
		}
		x.change(o, r.node, held)
		return
	}
	for t := range tierCount {
		if gone>>t&1 != 0 {
			if m.tiers[t]--; m.tiers[t] == 0 {
				held &^= 1 << t
			}
		}
	}
	if empty {
		m.refs--
	}
	if o.many[r.node] = m; m.refs == 1 {
		delete(o.many, r.node)
	}
	x.change(o, r.node, held)
}
