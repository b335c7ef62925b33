package cache

// clear drops all that a holder's events told. What it is expected to store
// stays expected.
func (x *Index) clear(o *holder) {
	soon := o.soon
	x.retire(o)
	for id, until := range soon {
		x.expectNode(o, id, until)
	}
	x.sweepSome(sweepAtOnce)
}

// forgetAll drops everything about a holder but its place.
func (x *Index) forgetAll(o *holder) {
	x.retire(o)
	x.sweepSome(sweepAtOnce)
}

// retire takes a holder's slot away and gives it another. What lies in the
// tree under the old one counts for nobody from then on, so it takes the same
// time whatever the holder had; see sweep.
func (x *Index) retire(o *holder) {
	if o.blocks > 0 || len(o.soon) > 0 {
		x.slots[o.slot].Store(nil)
		x.sweep.dead = append(x.sweep.dead, o.slot)
		x.seat(o)
	}
	x.mem.charge(-len(o.refs.keys) * refSize)
	x.loose -= len(o.soon) * soonSize
	if o.assumed != nil {
		x.loose -= o.assumed.size()
	}
	x.loose -= o.parked.bytes
	o.refs, o.many, o.soon = flat[ref]{}, nil, map[uint32]int64{}
	o.blocks, o.cached = 0, [tierCount]int{}
	o.parked, o.assumed = parked{}, nil
}

// seat gives a holder a slot that nothing in the tree has.
func (x *Index) seat(o *holder) {
	if len(x.vacant) == 0 && x.slotted == maxSlots {
		x.sweepSome(len(x.sweep.dead) * maxNodes) // so many were cleared at once
	}
	if n := len(x.vacant); n > 0 {
		o.slot, x.vacant = x.vacant[n-1], x.vacant[:n-1]
	} else {
		o.slot = x.slotted
		x.slotted++
	}
	x.slots[o.slot].Store(o)
}

// sweep clears slots that nobody has any more out of the tree, a few nodes
// with every event, so that they can be given out anew.
type sweep struct {
	dead []int // slots that wait for the next pass
	pass []int // slots of this one
	mask [slotWords]uint64
	at   uint32 // the next node
	from *sets  // what the last node had
	to   *sets  // and has now
}

const (
	sweepAtOnce = 8192 // nodes looked at when a holder is cleared
	sweepOften  = 256  // and with each event
)

// sweepSome looks at some nodes, or at as many as there are to look at.
func (x *Index) sweepSome(nodes int) {
	w := &x.sweep
	for ; nodes > 0; nodes-- {
		if len(w.pass) == 0 && !w.begin() {
			return
		}
		if w.at > x.nodes.used {
			x.swept.Add(1)
			x.vacant = append(x.vacant, w.pass...)
			w.pass, w.mask, w.from, w.to = nil, [slotWords]uint64{}, nil, nil
			continue
		}
		if s := x.nodes.of(w.at); s != nil {
			if s != w.from || w.to != nil && w.to.gone {
				w.from, w.to = s, s
				if s.touches(&w.mask) {
					w.to = x.sets.without(s, &w.mask)
				}
			}
			if w.to != s {
				x.nodes.hold(w.at, w.to)
				x.prune(w.at)
			}
		}
		w.at++
	}
}

func (w *sweep) begin() bool {
	if len(w.dead) == 0 {
		return false
	}
	w.pass, w.dead, w.at = w.dead, nil, 1
	for _, slot := range w.pass {
		w.mask[slot>>6] |= 1 << (slot & 63)
	}
	return true
}
