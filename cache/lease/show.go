package lease

import (
	"cmp"
	"slices"
	"time"
)

// Live returns the leases that have not ended at now, the largest first, and
// lets go of those that have.
func (b *Book) Live(now time.Time) []Lease {
	if b.Empty() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep(now)
	out := make([]Lease, 0, len(b.live))
	for _, e := range b.live {
		out = append(out, e.view())
	}
	for _, ln := range b.lines {
		if ln.pending() {
			out = append(out, ln.waits())
		}
	}
	slices.SortFunc(out, func(a, b Lease) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), a.Ends.Compare(b.Ends), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Worker, b.Worker))
	})
	return out
}

// sweep ends what is over. mu must be held.
func (b *Book) sweep(now time.Time) {
	for _, e := range b.live {
		if !e.Ends.After(now) {
			b.expire(e)
		}
	}
	for _, ln := range b.lines {
		if ln.pin != nil && !ln.pin.ends.After(now) {
			ln.pin = nil
			b.settle(ln)
		}
	}
}

// Counts returns what happened so far. Leases that ran out count as ended from
// the next Live on.
func (b *Book) Counts() Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// Leased is what leases take at a worker.
type Leased struct {
	Worker string
	Tokens int // of the budget
	Budget int // tokens; -1 where the worker's size is not known
}

// Workers returns what leases take at each worker where there are any, by name.
func (b *Book) Workers() []Leased {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Leased
	for name, w := range b.workers {
		one := Leased{name, w.used, -1}
		if limit, known := b.budget(w); known {
			one.Budget = limit
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Leased) int {
		return cmp.Or(cmp.Compare(len(a.Worker), len(b.Worker)), cmp.Compare(a.Worker, b.Worker))
	})
	return out
}

// touch notes that the router has to be told of a line.
func (b *Book) touch(l Line) { b.dirty[l] = struct{}{} }

// tell notes a lease whose state, time or place is to be written down.
func (b *Book) tell(e *entry) { b.news = append(b.news, e.view()) }

// Drain returns what changed since the last time: what the router has to know,
// and the leases that were asked, used or ended, each as it was then.
func (b *Book) Drain() (effects []Effect, news []Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.dirty {
		was, is := b.told[l], b.effect(l)
		if was == is {
			continue
		}
		if was.Tokens > 0 && was.Worker != is.Worker {
			effects = append(effects, Effect{Line: l, Worker: was.Worker})
		}
		if is.Tokens > 0 || was.Worker == is.Worker {
			effects = append(effects, is)
		}
		if b.told[l] = is; is.Tokens == 0 {
			delete(b.told, l)
		}
	}
	clear(b.dirty)
	news, b.news = b.news, nil
	return effects, news
}

// effect is what is leased of a line where it has most.
func (b *Book) effect(l Line) Effect {
	most := Effect{Line: l}
	ln := b.lines[l]
	if ln == nil {
		return most
	}
	for _, e := range ln.held {
		if e.in && e.Held > most.Tokens && !e.stale {
			most.Worker, most.Tokens, most.Until = e.Worker, e.Held, e.Ends
		}
	}
	return most
}

// Restore takes leases of an earlier time, the oldest ask first. Their ends are
// what is left of them; nothing is known of what became of them.
func (b *Book) Restore(now time.Time, all []Lease) (n int) {
	for _, l := range all {
		left := min(l.Ends.Sub(now), l.TTL)
		if left <= 0 || l.Worker == "" || l.Tokens <= 0 || l.State == Ended {
			continue
		}
		b.restore(now, l, left)
		n++
	}
	return n
}

func (b *Book) restore(now time.Time, l Lease, left time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := key{l.ID, l.Worker}
	if b.live[k] != nil {
		return
	}
	b.room(now, &Turn{Tenant: l.Tenant})
	w, ln := b.worker(l.Worker), b.line(l.Line)
	e := &entry{at: w, Lease: l}
	e.State, e.Why, e.Found = Asked, "asked before the restart", -1
	e.Used, e.Ends = now.Add(left-l.TTL), now.Add(left)
	b.live[k], w.entries[e] = e, struct{}{}
	b.tenants[l.Tenant]++
	var parent *entry
	for _, o := range ln.held {
		if o.at == w && o.Tokens < e.Tokens && (parent == nil || parent.Tokens < o.Tokens) {
			parent = o
		}
	}
	b.hold(ln, e)
	b.charge(e, parent)
	e.lasts()
	if l.By == ByPin {
		ln.pin = &pin{ttl: l.TTL, ends: e.Ends, tenant: l.Tenant, since: l.Asked}
	}
	b.fit(now, w, nil)
	b.touch(l.Line)
}

// Look returns leases as they are now, by what they were at a worker. One that
// is no more is left as it was, and has ended.
func (b *Book) Look(worker string, was []Lease) []Lease {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Lease, len(was))
	for i, l := range was {
		if e := b.live[key{l.ID, worker}]; e != nil {
			out[i] = e.view()
			continue
		}
		l.State, l.Held = Ended, 0
		out[i] = l
	}
	return out
}
