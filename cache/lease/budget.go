package lease

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/agentinfer/dyn/cache/worth"
)

// worker returns the worker of a name, which is new where there was none.
func (b *Book) worker(name string) *worker {
	w := b.workers[name]
	if w == nil {
		w = &worker{name: name, entries: map[*entry]struct{}{}, tenants: map[string]int{}}
		b.workers[name] = w
	}
	return w
}

// budget is how many tokens may be leased at a worker; ok is false where its
// size is not known, and nothing bounds them.
func (b *Book) budget(w *worker) (tokens int, ok bool) {
	if b.o.Budget < 0 {
		return 0, true
	}
	return int(b.o.Budget * float64(w.kv)), w.kv > 0
}

// charge counts a lease in its worker's budget, beside what its parent takes.
func (b *Book) charge(e, parent *entry) {
	if e.in && e.Held == e.Tokens {
		return
	}
	if e.kids == 0 {
		b.uncharge(e)
	}
	if e.in {
		return
	}
	e.own = e.Tokens
	if parent != nil && parent != e && parent.in && parent.at == e.at && parent.Tokens <= e.Tokens {
		e.parent = parent
		e.own -= parent.Tokens
		parent.kids++
	}
	e.in, e.Held = true, e.Tokens
	if e.State == Cut || e.State == GaveWay {
		e.State, e.Why = Asked, ""
	}
	e.at.take(e, e.own)
	b.touched(e)
}

// touched notes that what the router knows of a lease's lines has changed.
func (b *Book) touched(e *entry) {
	for _, ln := range e.lines {
		b.touch(ln.Line)
	}
}

// uncharge takes a lease out of the budget.
func (b *Book) uncharge(e *entry) {
	if !e.in {
		return
	}
	e.at.take(e, -e.own)
	e.in, e.own, e.Held = false, 0, 0
	if p := e.parent; p != nil {
		p.kids--
		e.parent = nil
		b.drop(p, p.left)
	}
}

// take counts tokens of a lease.
func (w *worker) take(e *entry, tokens int) {
	w.used += tokens
	if e.Tenant == "" {
		return
	}
	if w.tenants[e.Tenant] += tokens; w.tenants[e.Tenant] <= 0 {
		delete(w.tenants, e.Tenant)
	}
}

// slackShare is which part of a budget more may give way than has to, so that
// not every lease of ten thousand has all others looked through.
const slackShare = 64

// fit makes room at a worker until its leases are within the budget, and those
// of the tenant of mine within its part. mine are a turn's own, which are cut
// where they are worth least, and do not give way.
func (b *Book) fit(now time.Time, w *worker, mine []*entry) {
	limit, known := b.budget(w)
	if !known {
		return
	}
	if len(mine) > 0 && mine[0].Tenant != "" {
		y := yielding{w, mine, mine[0].Tenant, limit / tenantPart}
		for y.over() > 0 && b.yield(now, y) {
		}
	}
	y := yielding{w, mine, "", limit}
	for y.over() > 0 && b.yield(now, y) {
	}
}

// yielding is who has to make room.
type yielding struct {
	w      *worker
	mine   []*entry
	tenant string // whose leases; "" is anybody's
	limit  int    // tokens
}

// over is how many tokens there are too many.
func (y *yielding) over() int {
	if y.tenant != "" {
		return y.w.tenants[y.tenant] - y.limit
	}
	return y.w.used - y.limit
}

// leaf is a lease that nothing is held behind, with its worth.
type leaf struct {
	*entry
	worth float64
}

// yield has the leaves of least worth make room; false where there is none.
func (b *Book) yield(now time.Time, y yielding) bool {
	var over []*entry
	leaves := make([]leaf, 0, len(y.w.entries))
	for e := range y.w.entries {
		switch {
		case !e.Ends.After(now) && e.kids == 0:
			over = append(over, e)
		case e.in && e.kids == 0 && (y.tenant == "" || e.Tenant == y.tenant):
			leaves = append(leaves, leaf{e, b.worth(now, e)})
		}
	}
	for _, e := range over {
		b.expire(e)
	}
	if len(over) > 0 {
		return true // it is looked anew
	}
	slices.SortFunc(leaves, func(x, y leaf) int {
		return cmp.Or(cmp.Compare(x.worth, y.worth), x.Used.Compare(y.Used), cmp.Compare(x.ID, y.ID))
	})
	for i, l := range leaves {
		need := y.over()
		switch own := slices.Contains(y.mine, l.entry); {
		case i > 0 && (own || need <= 0 && -need+l.own > y.limit/slackShare):
			return true
		case own:
			b.cut(l.entry, y)
			return true
		}
		b.giveWay(l.entry, y.mine)
	}
	return len(leaves) > 0
}

// pinned is added to the worth of what a person asked for.
const pinned = 1e12

// worth is what it is worth to hold a lease, per token that it takes.
func (b *Book) worth(now time.Time, e *entry) float64 {
	if e.stale || len(e.lines) == 0 {
		return 0
	}
	r := worth.Run{Class: worth.History, Depth: e.Tokens - e.own, Tokens: e.own, Return: b.returns(now, e)}
	v := worth.Of(r, b.o.Cost)
	if e.Weight > 0 {
		v *= e.Weight
	}
	if e.By == ByPin {
		v += pinned
	}
	return v
}

// askMost is how many of the lines that hold a lease are asked how likely they
// come back.
const askMost = 8

// returns is how likely one of those that hold a lease comes back for it.
func (b *Book) returns(now time.Time, e *entry) float64 {
	none := 1.0
	for _, ln := range e.lines[max(len(e.lines)-askMost, 0):] {
		since := ln.rested
		if since.IsZero() {
			since = e.Used // it has a turn, or had one before a restart
		}
		none *= 1 - min(max(b.o.Return(ln.away, max(now.Sub(since), 0)), 0), 1)
	}
	return 1 - none
}

// cut takes off a lease what is over the budget, in whole blocks.
func (b *Book) cut(e *entry, y yielding) {
	w, n := y.w, y.over()
	if e.Block > 0 {
		n = (n + e.Block - 1) / e.Block * e.Block
	}
	if n = min(n, e.own); n <= 0 {
		n = e.own
	}
	w.take(e, -n)
	b.touched(e)
	e.own -= n
	e.Held -= n
	if e.State != Cut {
		b.count.Cut++
	}
	e.State, e.Why = Cut, fmt.Sprintf("leases may take %d tokens of %s, %.0f%% of its KV cache", y.limit, w.name, 100*float64(y.limit)/float64(max(w.kv, 1)))
	if y.tenant != "" {
		e.Why += ", of one key"
	}
	if e.own == 0 {
		b.uncharge(e)
	}
}

// giveWay takes a lease out of the budget for others.
func (b *Book) giveWay(e *entry, mine []*entry) {
	b.uncharge(e)
	b.count.GaveWay++
	e.State, e.Why = GaveWay, "the budget of "+e.Worker+" is full, and it was worth least"
	if len(mine) > 0 && mine[0].Session != "" {
		e.Why = "made room for " + mine[0].Session + ", which is worth more"
	}
	b.tell(e)
	b.touched(e)
}

// dropShare is which part of the leases goes at once where there are too many,
// so that one that asks and asks does not have them sorted each time.
const dropShare = 64

// room makes room in the book for one more lease of a turn's tenant.
func (b *Book) room(now time.Time, t *Turn) {
	crowd := t.Tenant != "" && b.tenants[t.Tenant] >= Most/tenantPart
	if len(b.live) < Most && !crowd {
		return
	}
	all := make([]*entry, 0, len(b.live))
	for _, e := range b.live {
		if (!crowd || e.Tenant == t.Tenant) && e.kids == 0 && e.Turn != t.ID {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(x, y *entry) int { return x.Ends.Compare(y.Ends) })
	for i, e := range all {
		over := !e.Ends.After(now)
		if !over && i >= max(len(all)/dropShare, 1) {
			break
		}
		if over {
			b.expire(e)
			continue
		}
		b.count.Dropped++
		b.ends(e, "there are too many leases")
	}
}
