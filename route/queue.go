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

// ErrQueueFull is in the chain when a queue takes no more turns.
var ErrQueueFull = errors.New("queue is full")

// Item is a turn that waits.
type Item struct {
	ID        string
	Strict    int // the band
	Class     turn.Class
	Tenant    string        // whose key it is; "" is nobody's in particular
	Attained  time.Duration // what its session had of workers' time of late, see Books.Attained
	Arrived   time.Time
	Effective time.Time

	seq uint64
	at  int // place in the heap
}

// NewItem takes from a turn what the queue needs.
func NewItem(t *turn.Turn) Item {
	return Item{ID: t.ID, Strict: t.Hints.Strict, Class: t.Class(), Tenant: t.Tenant, Arrived: t.Arrived, Effective: t.Effective()}
}

// mostLag is how far a session that had much goes back at most: it waits that
// much longer than one that had nothing, and no turn waits for ever.
const mostLag = 10 * time.Second

// due is when a turn's time comes: its effective arrival, later the more its
// session had.
func (a *Item) due() time.Time { return a.Effective.Add(min(max(a.Attained, 0), mostLag)) }

// before is the order of the turns of one tenant.
func (a *Item) before(b *Item) bool {
	return cmp.Or(
		cmp.Compare(b.Strict, a.Strict),
		a.due().Compare(b.due()),
		a.Arrived.Compare(b.Arrived),
		cmp.Compare(a.seq, b.seq),
	) < 0
}

// order is a heap of turns.
type order []*Item

func (o order) Len() int           { return len(o) }
func (o order) Less(i, j int) bool { return o[i].before(o[j]) }
func (o order) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].at, o[j].at = i, j
}

func (o *order) Push(v any) {
	it := v.(*Item)
	it.at = len(*o)
	*o = append(*o, it)
}

func (o *order) Pop() any {
	old := *o
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*o = old[:len(old)-1]
	return last
}

// Queue holds the turns that wait, in the order in which they should go: the
// highest band first; in it the tenant that had least of late; of a tenant the
// turn whose time came first. The zero value is ready. It belongs to one
// goroutine.
type Queue struct {
	Limit     int           // turns; 0 is DefaultQueue
	PerTenant int           // turns of one tenant; 0 is Limit
	MaxAge    time.Duration // how long a turn may wait, see Expired; 0 is for ever

	tenants map[string]*line
	by      map[string]*Item
	seq     uint64
	had     float64 // of the tenant that went last
	spare   *Item   // the last that went, for the next that comes
}

// line is the turns of one tenant, and how many of its turns went while others
// waited too.
type line struct {
	order
	tenant string
	had    float64
}

// Push adds a turn. An id that waits already and a full queue are errors.
func (q *Queue) Push(it Item) error {
	limit := q.Limit
	if limit <= 0 {
		limit = DefaultQueue
	}
	l := q.tenants[it.Tenant]
	switch {
	case q.by[it.ID] != nil:
		return fmt.Errorf("queue turn %s: it waits already", it.ID)
	case len(q.by) >= limit:
		return fmt.Errorf("queue turn %s: %d wait: %w", it.ID, len(q.by), ErrQueueFull)
	case l != nil && q.PerTenant > 0 && l.Len() >= q.PerTenant:
		return fmt.Errorf("queue turn %s: %d of %s wait: %w", it.ID, l.Len(), it.Tenant, ErrQueueFull)
	case q.by == nil:
		q.by, q.tenants = map[string]*Item{}, map[string]*line{}
	}
	q.seq++
	it.seq = q.seq
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
	heap.Push(&l.order, waits)
}

// next is the line whose turn it is; nil when nobody waits. It looks at each
// tenant: they are as many as keys.
func (q *Queue) next() (first *line) {
	for _, l := range q.tenants {
		if first == nil || l.before(first) {
			first = l
		}
	}
	return first
}

func (l *line) before(m *line) bool {
	a, b := l.order[0], m.order[0]
	if a.Strict != b.Strict {
		return a.Strict > b.Strict
	}
	if l.had != m.had {
		return l.had < m.had
	}
	return a.before(b)
}

// Peek returns the turn that should go next and leaves it there.
func (q *Queue) Peek() (Item, bool) {
	l := q.next()
	if l == nil {
		return Item{}, false
	}
	return *l.order[0], true
}

// Pop takes out the turn that should go next.
func (q *Queue) Pop() (Item, bool) {
	l := q.next()
	if l == nil {
		return Item{}, false
	}
	it := heap.Pop(&l.order).(*Item)
	q.had = l.had
	l.had++
	q.gone(l, it)
	q.spare = it
	return *it, true
}

// Return puts back a turn that was taken out and could not go, in the place
// that it had.
func (q *Queue) Return(it Item) {
	if q.by[it.ID] != nil {
		return
	}
	if l := q.tenants[it.Tenant]; l != nil {
		l.had--
	}
	q.add(it)
}

// Remove takes a turn out, wherever it is; false means that it does not wait.
func (q *Queue) Remove(id string) bool {
	it := q.by[id]
	if it == nil {
		return false
	}
	l := q.tenants[it.Tenant]
	heap.Remove(&l.order, it.at)
	q.gone(l, it)
	return true
}

// gone forgets a turn that left its line, and the line when it was the last.
func (q *Queue) gone(l *line, it *Item) {
	delete(q.by, it.ID)
	if l.Len() == 0 {
		delete(q.tenants, l.tenant)
	}
}

// Expired takes out the turns that have waited for MaxAge, and tells each.
func (q *Queue) Expired(now time.Time, tell func(Item)) {
	if q.MaxAge <= 0 {
		return
	}
	for _, it := range q.by {
		if now.Sub(it.Arrived) >= q.MaxAge {
			old := *it
			q.Remove(old.ID)
			tell(old)
		}
	}
}

// Len is how many turns wait.
func (q *Queue) Len() int { return len(q.by) }

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
