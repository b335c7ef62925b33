package cache

// maxWork is how much room for open ends settle keeps for the next time.
const maxWork = 1 << 14

// settle makes the whole sets of node i and of all below it right for one
// holder, after that holder's bits of node i changed. mu must be held.
//
// This is what makes Overlap both fast and right: a whole bit says that the
// holder has this block and all before it, so along any chain the bits can
// only fall, and a binary search finds where. Nothing is assumed about the
// order in which an engine evicts. An engine that evicts tails first pays one
// step here; one that evicts a parent below living children pays for each
// child once, and once more when the parent comes back.
func (x *Index) settle(i uint32, bit uint64) {
	work := append(x.work[:0], i)
	for len(work) > 0 {
		n := x.nodes.node(work[len(work)-1])
		work = work[:len(work)-1]
		gpu, all := bit, bit
		if n.parent != 0 {
			p := x.nodes.node(n.parent)
			gpu, all = p.wholeGPU&bit, p.whole&bit
		}
		gpu &= n.gpu
		all &= n.held()
		if gpu == n.wholeGPU&bit && all == n.whole&bit {
			continue
		}
		n.wholeGPU = n.wholeGPU&^bit | gpu
		n.whole = n.whole&^bit | all
		for c := n.child; c != 0; {
			k := x.nodes.node(c)
			if k.held()&bit != 0 {
				work = append(work, c)
			}
			c = k.right
		}
	}
	if cap(work) <= maxWork {
		x.work = work
	}
}
