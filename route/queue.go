package route

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/turn"
)

// DefaultQueue is how many turns wait where Queue.Limit says nothing.
const DefaultQueue = 4096

// ErrQueueFull is in the chain when a queue takes no more turns, ErrTenantFull
// too when it takes none of one tenant.
var (
	ErrQueueFull  = errors.New("queue is full")
	ErrTenantFull = fmt.Errorf("of one tenant: %w", ErrQueueFull)
)

// hall is where turns wait: those that may go, and those that the gate holds.
type hall int

const (
	open hall = iota
	held
	halls
)

// hall is where the turn waits.
func (a *Item) hall() hall {
	if a.Held {
		return held
	}
	return open
}

// Queue holds the turns that wait, in the order in which they should go: the
// highest band first; in it the tenant that had least of late; of a tenant the
// turn whose time came first. Turns that the gate holds wait beside the others,
// in the same order: they count for all limits, and only PopHeld takes them
// out. The zero value is ready. It belongs to one goroutine.
type Queue struct {
	Limit     int           // turns; 0 is DefaultQueue, below 0 none wait
	PerTenant int           // turns of one tenant that has a name; 0 is Limit
	MaxAge    time.Duration // how long a turn may wait, see Expired; 0 is for ever

	tenants map[string]*line
	by      map[string]*Item
	aside   [halls][]*Item
	had     [halls]float64 // of the tenant that went last
	held    int
	seq     uint64
	spare   *Item // the last that went, for the next that comes
}

// line is the turns of one tenant, and how many of its turns went while others
// waited too.
type line struct {
	tenant string
	n      int // in the halls and aside
	order  [halls]order
	had    [halls]float64
}

// Push adds a turn. An id that waits already is an error, and so is a full
// queue, but for a turn whose client has heard something.
func (q *Queue) Push(it Item) error {
	limit := cmp.Or(q.Limit, DefaultQueue)
	l := q.tenants[it.Tenant]
	switch {
	case q.by[it.ID] != nil:
		return fmt.Errorf("queue turn %s: it waits already", it.ID)
	case it.Begun:
	case len(q.by) >= limit:
		return fmt.Errorf("queue turn %s: %d wait: %w", it.ID, len(q.by), ErrQueueFull)
	case l != nil && it.Tenant != "" && q.PerTenant > 0 && l.n >= q.PerTenant:
		return fmt.Errorf("queue turn %s: %d of %s wait: %w", it.ID, l.n, it.Tenant, ErrTenantFull)
	}
	if q.by == nil {
		q.by, q.tenants = map[string]*Item{}, map[string]*line{}
	}
	q.seq++
	it.seq, it.aside = q.seq, false
	q.add(it)
	return nil
}

// add puts a turn in its tenant's line. A tenant that comes anew had as much
// as the one whose turn it is, not less: it does not save up.
func (q *Queue) add(it Item) {
	l := q.tenants[it.Tenant]
	if l == nil {
		l = &line{tenant: it.Tenant, had: q.had}
		q.tenants[it.Tenant] = l
	}
	waits := q.spare
	if q.spare = nil; waits == nil {
		waits = new(Item)
	}
	*waits = it
	q.by[it.ID] = waits
	l.n++
	if it.Held {
		q.held++
	}
	if h := it.hall(); it.aside {
		waits.at = len(q.aside[h])
		q.aside[h] = append(q.aside[h], waits)
	} else {
		heap.Push(&l.order[h], waits)
	}
}

// next is the line whose turn it is; nil when nobody waits. It looks at each
// tenant: they are as many as keys.
func (q *Queue) next(h hall) (first *line) {
	for _, l := range q.tenants {
		if len(l.order[h]) > 0 && (first == nil || l.before(first, h)) {
			first = l
		}
	}
	return first
}

func (l *line) before(m *line, h hall) bool {
	a, b := l.order[h][0], m.order[h][0]
	if a.Strict != b.Strict {
		return a.Strict > b.Strict
	}
	if l.had[h] != m.had[h] {
		return l.had[h] < m.had[h]
	}
	return a.before(b)
}

// Peek returns the turn that should go next and leaves it there.
func (q *Queue) Peek() (Item, bool) {
	l := q.next(open)
	if l == nil {
		return Item{}, false
	}
	return *l.order[open][0], true
}

// Pop takes out the turn that should go next.
func (q *Queue) Pop() (Item, bool) { return q.pop(open) }

// PopHeld takes out the turn that should be the next to get past the gate.
func (q *Queue) PopHeld() (Item, bool) { return q.pop(held) }

func (q *Queue) pop(h hall) (Item, bool) {
	l := q.next(h)
	if l == nil {
		return Item{}, false
	}
	it := heap.Pop(&l.order[h]).(*Item)
	q.had[h] = l.had[h]
	l.had[h]++
	q.gone(l, it)
	it.from = h
	q.spare = it
	return *it, true
}

// Return puts back a turn that was taken out and could not go, in the place
// that it had: among those that the gate holds if Held is set, else among the
// others.
func (q *Queue) Return(it Item) {
	it.aside = false
	q.back(it)
}

// Pass is Return for a turn that is not to come again before Recall.
func (q *Queue) Pass(it Item) {
	it.aside = true
	q.back(it)
}

// back puts back a turn that was popped. Its tenant did not have that turn,
// unless it got past the gate.
func (q *Queue) back(it Item) {
	if q.by[it.ID] != nil {
		return
	}
	if l := q.tenants[it.Tenant]; l != nil && (it.from == open || it.Held) {
		l.had[it.from]--
	}
	q.add(it)
}

// Recall gives all turns that were passed their places again, those held apart.
func (q *Queue) Recall() { q.recall(open) }

// RecallHeld is Recall of those that the gate holds.
func (q *Queue) RecallHeld() { q.recall(held) }

func (q *Queue) recall(h hall) {
	for i, it := range q.aside[h] {
		it.aside = false
		heap.Push(&q.tenants[it.Tenant].order[h], it)
		q.aside[h][i] = nil
	}
	q.aside[h] = q.aside[h][:0]
}

// Take takes a turn out, wherever it is; false means that it does not wait.
func (q *Queue) Take(id string) (Item, bool) {
	it := q.by[id]
	if it == nil {
		return Item{}, false
	}
	l, h := q.tenants[it.Tenant], it.hall()
	if it.aside {
		last := len(q.aside[h]) - 1
		q.aside[h][it.at] = q.aside[h][last]
		q.aside[h][it.at].at = it.at
		q.aside[h][last] = nil
		q.aside[h] = q.aside[h][:last]
	} else {
		heap.Remove(&l.order[h], it.at)
	}
	q.gone(l, it)
	return *it, true
}

// Remove is Take for those who do not want it back.
func (q *Queue) Remove(id string) bool {
	_, ok := q.Take(id)
	return ok
}

// gone forgets a turn that left its line, and the line when it was the last.
func (q *Queue) gone(l *line, it *Item) {
	delete(q.by, it.ID)
	if it.Held {
		q.held--
	}
	if l.n--; l.n == 0 {
		delete(q.tenants, l.tenant)
	}
}

// Expired takes out the turns that have waited for MaxAge, and tells each, in
// the order in which they would have gone.
func (q *Queue) Expired(now time.Time, tell func(Item)) {
	if q.MaxAge <= 0 {
		return
	}
	var old []*Item
	for _, it := range q.by {
		if it.Age(now) >= q.MaxAge {
			old = append(old, it)
		}
	}
	slices.SortFunc(old, func(a, b *Item) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	for _, it := range old {
		q.Remove(it.ID)
		tell(*it)
	}
}

// Len is how many turns wait, those held too.
func (q *Queue) Len() int { return len(q.by) }

// Held is how many turns the gate holds.
func (q *Queue) Held() int { return q.held }

// Bands returns the rows of the queue panel: one for each band and class that
// has turns waiting here or, as the caller says, in prefill at a worker. The
// oldest is of those that wait.
func (q *Queue) Bands(prefill []Item, now time.Time) []snapshot.Band {
	type key struct {
		strict int
		class  turn.Class
	}
	rows := map[key]*snapshot.Band{}
	row := func(it *Item) *snapshot.Band {
		k := key{it.Strict, it.Class}
		if rows[k] == nil {
			rows[k] = &snapshot.Band{Strict: it.Strict, Class: fmt.Sprintf("P%d", it.Class)}
		}
		return rows[k]
	}
	for _, it := range q.by {
		r := row(it)
		r.Waiting++
		r.OldestMS = max(r.OldestMS, float64(now.Sub(it.Arrived))/float64(time.Millisecond))
	}
	for i := range prefill {
		row(&prefill[i]).Prefill++
	}
	out := make([]snapshot.Band, 0, len(rows))
	for _, r := range rows {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b snapshot.Band) int {
		return cmp.Or(cmp.Compare(b.Strict, a.Strict), cmp.Compare(a.Class, b.Class))
	})
	return out
}
