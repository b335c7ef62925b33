package cache

// maxWork is how much room for open ends settle keeps for the next time.
const maxWork = 1 << 14

// change sets what a holder has of a node, and makes right how far it and all
// below it are whole. mu must be held.
func (x *Index) change(o *holder, id uint32, held uint8) {
	s := x.nodes.of(id)
	was, level := s.held(o.slot)
	if held&tierBits != 0 && was&bitSoon != 0 { // events tell more
		held &^= bitSoon
		x.forgetSoon(o, id)
	}
	if was == held {
		return
	}
	o.count(was&tierBits, held&tierBits)
	next := best(held)
	if parent := x.nodes.parent(id); parent != 0 {
		_, above := x.nodes.of(parent).held(o.slot)
		next = max(next, above)
	}
	x.nodes.hold(id, x.sets.with(s, o.slot, held, next))
	if next != level {
		x.settle(id, o.slot, next)
	}
}

// count keeps the account of a holder's blocks by tier.
func (o *holder) count(was, held uint8) {
	for t := range tierCount {
		o.cached[t] += int(held>>t&1) - int(was>>t&1)
	}
	if was == 0 && held != 0 {
		o.blocks++
	} else if was != 0 && held == 0 {
		o.blocks--
	}
}

// settle makes the whole sets of all below a node right for one slot, after
// the node's level changed.
//
// This is what makes Overlap both fast and right: a level says that the holder
// has this block and all before it in those tiers, so along any chain levels
// only get worse, and a search by halves finds where. Nothing is assumed about
// the order in which an engine evicts. An engine that evicts tails first pays
// one step here; one that evicts a parent below living children pays for each
// child once, and once more when the parent comes back.
func (x *Index) settle(id uint32, slot, level int) {
	work := x.work[:0]
	for {
		for c := x.nodes.kid(id); c != 0; c = x.nodes.next(c) {
			s := x.nodes.of(c)
			held, was := s.held(slot)
			if next := max(level, best(held)); held != 0 && next != was {
				x.nodes.hold(c, x.sets.with(s, slot, held, next))
				work = append(work, c)
			}
		}
		if len(work) == 0 {
			break
		}
		id = work[len(work)-1]
		work = work[:len(work)-1]
		_, level = x.nodes.of(id).held(slot)
	}
	if cap(work) <= maxWork {
		x.work = work
	}
}
