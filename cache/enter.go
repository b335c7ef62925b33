package cache

// enter enters blocks one behind the other, by their mixed own hashes and by
// the engine's mixed names. Most are new, and so are their names: those are
// made a run at a time, as they will be.
func (x *Index) enter(o *holder, keys, names []uint64, parent uint32, tier int) {
	near := 0 // blocks whose places in the tables were asked for
	for i := 0; i < len(keys); {
		id, ok := x.behind(parent, keys[i])
		if ok && id == 0 {
			if i >= near {
				near = x.fetch(keys, names, i)
			}
			if last, n := x.extend(o, keys[i:], names[i:], parent, tier); n > 0 {
				parent = last
				i += n
				continue
			}
			id = x.make(keys[i], parent, nil)
		}
		if !ok || id == 0 {
			x.count.refused++
			return
		}
		x.nodes.stamp(id)
		x.hold(o, names[i], id, tier)
		parent = id
		i++
	}
}

// batch is how many blocks' lines are asked for at once: so many misses wait
// for each other no more, and their lines stay near until they are used.
const batch = 64

// fetch brings the lines near where a batch of new blocks will go.
func (x *Index) fetch(keys, names []uint64, from int) (to int) {
	to = min(from+batch, len(keys))
	sum := uint32(0)
	for i := from; i < to; i++ {
		sum += x.names.guess(names[i])
	}
	for i := from; i < to; i += runSize {
		sum += x.own.guess(keys[i])
	}
	x.near = sum
	return to
}

// extend makes new blocks behind parent that a holder has in one tier, up to
// the end of a run, and returns the last and how many they are. It stops before
// a name that means another block, and where there is no room. Names may be
// nil.
func (x *Index) extend(o *holder, keys, names []uint64, parent uint32, tier int) (last uint32, n int) {
	id := x.room(parent)
	if id == 0 {
		return 0, 0
	}
	most := min(len(keys), runSize-int(place(id)), x.opt.MaxBlocks-x.nodes.alive)
	if names != nil {
		most = x.entitle(o, id, names[:most])
	}
	if most == 0 {
		return 0, 0
	}
	level := tier
	if parent != 0 {
		_, above := x.nodes.of(parent).held(o.slot)
		level = max(level, above)
	}
	x.nodes.fill(id, parent, keys[:most], x.sets.with(nil, o.slot, 1<<tier, level))
	last = id + uint32(most) - 1
	if names != nil {
		x.nodes.run(id).named |= places(id, most)
	}
	if !x.publish(id, last) {
		return 0, 0
	}
	o.cached[tier] += most
	o.blocks += most
	return last, most
}

// entitle gives the nodes to be from id on their names, and returns for how many
// those were new.
func (x *Index) entitle(o *holder, id uint32, names []uint64) (n int) {
	r := x.nodes.run(id)
	for i, name := range names {
		r.name[place(id)+uint32(i)] = name
		if o.refs.get(name).node != 0 || !x.names.put(name, id+uint32(i)) {
			return i
		}
	}
	return len(names)
}
