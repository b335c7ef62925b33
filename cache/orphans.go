package cache

import (
	"slices"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// maxParked bounds the token ids of the stores that a holder has parked.
const maxParked = 4 << 20

// parked holds the stores of one holder whose parent is not known yet, oldest
// first. The zero value is empty.
type parked struct{ wait []orphan }

func (p *parked) tokens() (n int) {
	for i := range p.wait {
		n += len(p.wait[i].ev.Tokens)
	}
	return n
}

type orphan struct {
	ev    turn.KVEvent
	until time.Time
}

// park keeps a store until its parent comes. A full park drops its oldest.
func (x *Index) park(o *holder, ev turn.KVEvent, now time.Time) {
	for len(o.parked.wait) >= x.opt.Orphans || (len(o.parked.wait) > 0 && o.parked.tokens()+len(ev.Tokens) > maxParked) {
		o.parked.wait = slices.Delete(o.parked.wait, 0, 1)
		x.count.orphans++
	}
	o.parked.wait = append(o.parked.wait, orphan{ev, now.Add(x.opt.OrphanTTL)})
}

// dropOrphans drops and counts those that waited too long.
func (x *Index) dropOrphans(o *holder, now time.Time) {
	w := o.parked.wait
	n := 0
	for n < len(w) && !now.Before(w[n].until) {
		n++
	}
	if n > 0 {
		x.count.orphans += int64(n)
		o.parked.wait = slices.Delete(w, 0, n)
	}
}

// release takes out the stores whose parent is one of hashes.
func (p *parked) release(hashes []uint64) (out []turn.KVEvent) {
	if len(p.wait) == 0 {
		return nil
	}
	p.wait = slices.DeleteFunc(p.wait, func(w orphan) bool {
		if !slices.Contains(hashes, w.ev.Parent) {
			return false
		}
		out = append(out, w.ev)
		return true
	})
	return out
}

// cut takes a removed block and what follows it out of the store that holds
// it. found tells whether one does, lost whether something followed.
func (p *parked) cut(hash uint64) (found, lost bool) {
	for i := range p.wait {
		ev := &p.wait[i].ev
		at := slices.Index(ev.Hashes, hash)
		if at < 0 {
			continue
		}
		lost = at < len(ev.Hashes)-1
		ev.Hashes, ev.Tokens = ev.Hashes[:at], ev.Tokens[:at*ev.BlockSize]
		if at == 0 {
			p.wait = slices.Delete(p.wait, i, i+1)
		}
		return true, lost
	}
	return false, false
}
