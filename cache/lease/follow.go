package lease

import (
	"cmp"
	"slices"
	"time"
)

// follow goes through what a line had: what the turn uses goes on in one of its
// asks, or becomes one; what the turn has no more is left to its time. left are
// the leases to be let go of when the asks are made.
func (b *Book) follow(now time.Time, ln *line, t *Turn, asks []ask, u *Used) (_ []ask, left []*entry) {
	marks := len(asks)
	for _, e := range slices.Clone(ln.held) {
		switch {
		case !slices.Contains(e.lines, ln): // it went with one behind it
			continue
		case !e.Ends.After(now):
			b.expire(e)
			continue
		case !t.has(e):
			e.stale = e.stale || t.Rewrites && len(e.lines) == 1
			continue
		}
		i := slices.IndexFunc(asks, func(a ask) bool { return a.id == e.ID })
		if i < 0 {
			i = slices.IndexFunc(asks[:marks], func(a ask) bool { return a.covers(e) })
		}
		if i < 0 {
			i = len(asks)
			asks = append(asks, ask{Mark: Mark{e.Tokens, e.TTL, e.By, e.Weight}, id: e.ID, hash: e.Hash})
		}
		if s := asks[i].since; s == nil || s.Tokens < e.Tokens {
			asks[i].since = e
		}
		if e.in && e.Held > 0 {
			u.Due = append(u.Due, Due{asks[i].id, e.Worker, e.Held})
		}
		left = append(left, e)
	}
	slices.SortStableFunc(asks, func(a, b ask) int { return cmp.Compare(a.Tokens, b.Tokens) })
	return asks, left
}

// covers reports whether a mark further on asks for all that a lease does, so
// that the lease grows to there.
func (a *ask) covers(e *entry) bool {
	return a.Tokens > e.Tokens && a.TTL >= e.TTL && a.Weight >= e.Weight && (e.By != ByPin || a.By == ByPin)
}

// ask makes or renews the lease of an ask at the turn's worker. parent is the
// one before it in the prompt.
func (b *Book) ask(now time.Time, ln *line, t *Turn, a *ask, parent *entry) *entry {
	w := b.worker(t.Worker)
	k := key{a.id, t.Worker}
	e := b.live[k]
	if e != nil && !e.Ends.After(now) {
		b.expire(e)
		e = b.live[k]
	}
	if e == nil {
		b.room(now, t)
		e = &entry{at: w, Lease: Lease{
			ID: a.id, Tenant: t.Tenant, Worker: t.Worker, Hash: a.hash, Tokens: a.Tokens,
			Found: -1, Asked: now, By: a.By, State: Asked,
		}}
		if a.hash != 0 {
			e.Block = t.Block
		}
		e.goesOn(a.since, &b.count)
		b.live[k], w.entries[e] = e, struct{}{}
		b.tenants[t.Tenant]++
	} else if a.since == nil || a.since == e {
		b.count.Renewed++
	}
	b.hold(ln, e)
	e.Line, e.Turn, e.Used = ln.Line, t.ID, now
	if e.stale {
		e.stale = false
		b.touched(e)
	}
	e.TTL, e.Weight = max(e.TTL, a.TTL), max(e.Weight, a.Weight)
	if a.By == ByPin {
		e.By = ByPin
	}
	if ends := now.Add(a.TTL); ends.After(e.Ends) {
		e.Ends = ends
	}
	b.charge(e, parent)
	e.lasts()
	return e
}

// lasts has what lies before a lease live as long: it is nothing without that.
func (e *entry) lasts() {
	for p := e.parent; p != nil && p.Ends.Before(e.Ends); p = p.parent {
		p.Ends = e.Ends
	}
}

// goesOn takes over what is known of a shorter lease that grew into this one,
// or of the same one at another worker.
func (e *entry) goesOn(since *entry, c *Counts) {
	if since == nil {
		return
	}
	e.Asked = since.Asked
	if since.Worker != e.Worker {
		c.Moved++
		return
	}
	if since.State == Kept || since.State == Lost {
		e.State, e.Found, e.Why = since.State, since.Found, since.Why
	}
}

// hold has a line hold a lease.
func (b *Book) hold(ln *line, e *entry) {
	if slices.Contains(e.lines, ln) {
		return
	}
	if len(ln.held) >= lineMost {
		old := slices.MinFunc(ln.held, func(x, y *entry) int { return x.Used.Compare(y.Used) })
		b.count.Dropped++
		b.release(ln, old, "its line has too many")
	}
	e.lines, ln.held = append(e.lines, ln), append(ln.held, e)
	if b.lines[ln.Line] != ln { // it had nothing for a moment
		b.lines[ln.Line] = ln
		b.alive.Add(1)
	}
}

// release has a line let go of a lease, which ends where it was the last; why
// "" is that it goes on as another.
func (b *Book) release(ln *line, e *entry, why string) {
	i := slices.Index(e.lines, ln)
	if i < 0 {
		return
	}
	e.lines = slices.Delete(e.lines, i, i+1)
	if i = slices.Index(ln.held, e); i >= 0 {
		ln.held = slices.Delete(ln.held, i, i+1)
	}
	e.left = why
	b.touch(ln.Line)
	b.settle(ln)
	b.drop(e, why)
}

// drop ends a lease that no line holds and that is nobody's parent.
func (b *Book) drop(e *entry, why string) {
	k := key{e.ID, e.Worker}
	if len(e.lines) > 0 || e.kids > 0 || b.live[k] != e {
		return
	}
	delete(b.live, k)
	b.uncharge(e)
	delete(e.at.entries, e)
	if b.tenants[e.Tenant]--; b.tenants[e.Tenant] <= 0 {
		delete(b.tenants, e.Tenant)
	}
	if why != "" {
		b.count.Ended++
		e.State, e.Why, e.Held = Ended, why, 0
		b.tell(e)
	}
}

// expire ends a lease whose time is over. Those behind it in their prompts end
// before it, since they never outlive it.
func (b *Book) expire(e *entry) { b.ends(e, "its time is over") }

// ends has all lines let go of a lease.
func (b *Book) ends(e *entry, why string) {
	for len(e.lines) > 0 {
		b.release(e.lines[0], e, why)
	}
	b.drop(e, why)
}
