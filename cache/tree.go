package cache

// behind finds the block of a mixed own hash behind parent, 0 when it is new.
// false means that two prefixes have one hash.
func (x *Index) behind(parent uint32, h uint64) (id uint32, ok bool) {
	if id = parent + 1; place(id) != 0 && x.nodes.lives(id) && x.nodes.hash(id) == h {
		return id, true
	}
	id = x.own.find(h)
	return id, id == 0 || x.nodes.parent(id) == parent
}

// find is the node of a block of a chain, 0 when there is none.
func (x *Index) find(chain []uint64, at int) (id uint32) {
	for i := at &^ lastBits; i <= at; i++ {
		h := mix(chain[i])
		if next := id + 1; place(next) != 0 && x.nodes.lives(next) && x.nodes.hash(next) == h {
			id = next
		} else if id = x.own.find(h); id == 0 {
			return 0
		}
	}
	return id
}

// put returns the node of a mixed own hash behind parent and makes it when it
// is new. 0 means that there is no room, or that two prefixes have one hash.
func (x *Index) put(h uint64, parent uint32) uint32 {
	if id, ok := x.behind(parent, h); !ok || id != 0 {
		if !ok {
			return 0
		}
		return id
	}
	return x.make(h, parent, nil)
}

// room is where the next block behind parent goes, made where memory is full;
// 0 if there is none.
func (x *Index) room(parent uint32) uint32 {
	if x.nodes.alive >= x.opt.MaxBlocks {
		return 0
	}
	if x.bytes() > int64(x.opt.MaxBytes) || x.own.crowded || x.names.crowded {
		if !x.evict(parent) {
			return 0
		}
		x.own.crowded, x.names.crowded = false, false
	}
	for {
		if id := x.nodes.room(parent); id != 0 || !x.evict(parent) {
			return id
		}
	}
}

// make makes a node held as told; 0 if there is no room.
func (x *Index) make(h uint64, parent uint32, held *sets) uint32 {
	id := x.room(parent)
	if id == 0 {
		return 0
	}
	x.nodes.fill(id, parent, []uint64{h}, held)
	if !x.publish(id, id) {
		return 0
	}
	return id
}

// publish enters nodes that were filled in the table, if they begin a run;
// readers find them then. If there is no room they are taken out again.
func (x *Index) publish(id, last uint32) bool {
	if !x.nodes.begins(id) {
		return true
	}
	if x.own.put(x.nodes.hash(id), id) {
		return true
	}
	for ; last >= id; last-- {
		x.nodes.hold(last, nil)
		x.cut(last)
	}
	return false
}

// cut takes a node without children out of the tree.
func (x *Index) cut(id uint32) (parent uint32) {
	parent = x.nodes.parent(id)
	if x.nodes.named(id) {
		x.names.del(x.nodes.name(id), id)
	}
	x.nodes.giveBack(id)
	return parent
}

// prune frees a node that nobody holds and that has nothing below it, and then
// its parents for which the same is true. Inner nodes that nobody holds stay
// while something below them is held: they carry the links.
func (x *Index) prune(id uint32) {
	for id != 0 && x.nodes.lives(id) && uint32(x.nodes.state(id)) == 0 && x.nodes.kid(id) == 0 {
		if x.nodes.begins(id) {
			x.own.del(x.nodes.hash(id), id)
		}
		id = x.cut(id)
	}
}
