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
type parked struct {
	wait  []orphan
	bytes int
}

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

// size is what a parked store takes.
func (w *orphan) size() int { return 4*len(w.ev.Tokens) + 8*len(w.ev.Hashes) + 128 }

// park keeps a store until its parent comes. A full park drops its oldest.
func (x *Index) park(o *holder, ev turn.KVEvent, now time.Time) {
	w := orphan{ev, now.Add(x.opt.OrphanTTL)}
	n := 0
	for left := o.parked.tokens(); n < len(o.parked.wait) &&
		(len(o.parked.wait)-n >= x.opt.Orphans || left+len(ev.Tokens) > maxParked || x.bytes()+int64(w.size()) > int64(x.opt.MaxBytes)); n++ {
		left -= len(o.parked.wait[n].ev.Tokens)
	}
	x.dropParked(o, n)
	if x.bytes()+int64(w.size()) > int64(x.opt.MaxBytes) {
		x.count.orphans++
		return
	}
	o.parked.wait = append(o.parked.wait, w)
	x.account(o)
}

// dropParked drops and counts the first n.
func (x *Index) dropParked(o *holder, n int) {
	if n > 0 {
		x.count.orphans += int64(n)
		o.parked.wait = slices.Delete(o.parked.wait, 0, n)
		x.account(o)
	}
}

// account books what a holder's parked stores take.
func (x *Index) account(o *holder) {
	x.loose -= o.parked.bytes
	o.parked.bytes = 0
	for i := range o.parked.wait {
		o.parked.bytes += o.parked.wait[i].size()
	}
	x.loose += o.parked.bytes
}

// dropOrphans drops and counts those that waited too long.
func (x *Index) dropOrphans(o *holder, now time.Time) {
	w := o.parked.wait
	n := 0
	for n < len(w) && !now.Before(w[n].until) {
		n++
	}
	x.dropParked(o, n)
}

// unpark takes out the stores whose parent is one of hashes.
func (x *Index) unpark(o *holder, hashes []uint64) []turn.KVEvent {
	out := o.parked.release(hashes)
	if len(out) > 0 {
		x.account(o)
	}
	return out
}

// cutParked is parked.cut.
func (x *Index) cutParked(o *holder, hash uint64) (found, lost bool) {
	if found, lost = o.parked.cut(hash); found {
		x.account(o)
	}
	return found, lost
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
