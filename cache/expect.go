package cache

import (
	"slices"
	"sort"
	"time"
)

// maxSoon bounds the blocks that a holder is expected to store, maxDue those
// of all expectations together, a block counted once for each.
const (
	maxSoon = 1 << 17
	maxDue  = 1 << 22

	soonSize = 48 // of an entry of holder.soon, as bytes go
)

// ExpectTTL is how long a routed turn's blocks should be expected.
const ExpectTTL = 5 * time.Second

// expectation is one call of Expect that has not run out.
type expectation struct {
	until int64 // see Index.since
	h     Holder
	nodes []uint32
}

// Expect counts the blocks of chain as held by h for ttl, or until its events
// tell more about them: a turn was sent there, and its like should follow
// before the engine says that it stored the blocks. A burst of more than 128
// Ki expected blocks is cut and counted. The chain is not kept.
func (x *Index) Expect(h Holder, chain []uint64, ttl time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.opt.Now()
	x.expire(x.since(now), sweepAtOnce)
	o := x.holder(h)
	if o == nil || len(chain) == 0 || ttl <= 0 {
		return
	}
	e := expectation{until: x.since(now.Add(ttl)), h: h}
	depth, parent := x.depth(o, chain, func(s *sets) bool { return s.has(setWhole, o.slot) })
	for i := depth; i < len(chain); i++ {
		n := uint32(0)
		if len(o.soon) < maxSoon && x.dueLen+len(e.nodes) < maxDue {
			n = x.put(mix(chain[i]), parent)
		}
		if n == 0 {
			x.count.refused++
			break
		}
		if held, _ := x.nodes.of(n).held(o.slot); held&tierBits == 0 {
			x.expectNode(o, n, max(e.until, o.soon[n]))
			if e.nodes == nil {
				e.nodes = make([]uint32, 0, min(len(chain)-i, maxSoon))
			}
			e.nodes = append(e.nodes, n)
		}
		parent = n
	}
	if len(e.nodes) > 0 {
		x.wait(e)
	}
}

// depth is how many blocks of chain fulfil a condition that no block fulfils
// behind one that does not, and the node of the last.
func (x *Index) depth(o *holder, chain []uint64, has func(*sets) bool) (int, uint32) {
	d := sort.Search(len(chain), func(i int) bool {
		n := x.find(chain, i)
		return n == 0 || !has(x.nodes.of(n))
	})
	if d == 0 {
		return 0, 0
	}
	return d, x.find(chain, d-1)
}

func (x *Index) expectNode(o *holder, id uint32, until int64) {
	if _, ok := o.soon[id]; !ok {
		x.loose += soonSize
	}
	o.soon[id] = until
	held, _ := x.nodes.of(id).held(o.slot)
	x.change(o, id, held|bitSoon)
}

// forgetSoon ends what is expected of one node, but for its bit.
func (x *Index) forgetSoon(o *holder, id uint32) {
	if _, ok := o.soon[id]; ok {
		x.loose -= soonSize
		delete(o.soon, id)
	}
}

// wait puts an expectation in its place by deadline.
func (x *Index) wait(e expectation) {
	at := len(x.due)
	for at > 0 && x.due[at-1].until > e.until {
		at--
	}
	x.due = slices.Insert(x.due, at, e)
	x.dueLen += len(e.nodes)
	x.setExpiry()
}

// setExpiry tells readers when something ends.
func (x *Index) setExpiry() {
	first := x.ends
	if len(x.due) > 0 && (first == 0 || x.due[0].until < first) {
		first = x.due[0].until
	}
	x.expiry.Store(first)
}

// punctual ends expectations whose time is over, if nobody else is at it, and
// reports whether none are left. It waits for nobody.
func (x *Index) punctual() bool {
	next := x.expiry.Load()
	if next == 0 {
		return true
	}
	now := x.since(x.opt.Now())
	if now < next {
		return true
	}
	if x.mu.TryLock() {
		x.expire(now, sweepAtOnce)
		x.mu.Unlock()
	}
	next = x.expiry.Load()
	return next == 0 || now < next
}

// expire ends the expectations and assumptions whose time is over, up to a
// number of nodes.
func (x *Index) expire(now int64, most int) {
	if next := x.expiry.Load(); next == 0 || now < next {
		return
	}
	n := 0
	for ; n < len(x.due) && x.due[n].until <= now && most > 0; n++ {
		e := &x.due[n]
		part := e.nodes[len(e.nodes)-min(most, len(e.nodes)):]
		most -= len(part)
		x.dueLen -= len(part)
		if o := x.holder(e.h); o != nil {
			x.unexpect(o, part, now)
		}
		if e.nodes = e.nodes[:len(e.nodes)-len(part)]; len(e.nodes) > 0 {
			break
		}
	}
	x.due = slices.Delete(x.due, 0, n)
	x.outlive(now, most)
	x.setExpiry()
}

// unexpect takes back what an expectation claimed and no later one does. The
// deepest block goes first, so that each is settled once.
func (x *Index) unexpect(o *holder, list []uint32, now int64) {
	for _, id := range slices.Backward(list) {
		until, ok := o.soon[id]
		if !ok || until > now {
			continue
		}
		x.forgetSoon(o, id)
		held, _ := x.nodes.of(id).held(o.slot)
		x.change(o, id, held&^bitSoon)
		x.prune(id)
	}
}
