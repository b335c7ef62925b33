package cache

// put returns the node of a mixed own hash below parent and makes it when it
// is new. 0 means that there is no room, or that two prefixes have one hash.
func (x *Index) put(h uint64, parent uint32) uint32 {
	if id := x.own.find(h); id != 0 {
		if x.nodes.parent(id) != parent {
			return 0
		}
		return id
	}
	return x.make(h, parent, nil)
}

// make makes a node held as told, and room for it when memory is full; 0 if
// there is none.
func (x *Index) make(h uint64, parent uint32, held *sets) uint32 {
	if x.nodes.alive >= x.opt.MaxBlocks {
		return 0
	}
	if x.bytes() > int64(x.opt.MaxBytes) && !x.evict(parent) {
		return 0
	}
	id := x.nodes.take(h, parent, held)
	if id == 0 && x.evict(parent) {
		id = x.nodes.take(h, parent, held)
	}
	if id == 0 {
		return 0
	}
	if !x.own.put(h, id) && (!x.mem.tight() || !x.evict(id) || !x.own.put(h, id)) {
		x.nodes.hold(id, nil)
		x.cut(id)
		return 0
	}
	return id
}

// cut takes a node without children out of the tree.
func (x *Index) cut(id uint32) (parent uint32) {
	if parent = x.nodes.parent(id); parent != 0 {
		x.nodes.unhang(id, parent)
	}
	x.nodes.giveBack(id)
	return parent
}

// prune frees a node that nobody holds and that has nothing below it, and then
// its parents for which the same is true. Inner nodes that nobody holds stay
// while something below them is held: they carry the links.
func (x *Index) prune(id uint32) {
	for id != 0 && x.nodes.lives(id) && uint32(x.nodes.state(id)) == 0 && x.nodes.kid(id) == 0 {
		x.own.del(x.nodes.hash(id), id)
		if x.nodes.named(id) {
			x.names.del(x.nodes.name(id), id)
		}
		id = x.cut(id)
	}
}
