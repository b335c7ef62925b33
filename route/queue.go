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
	Arrived   time.Time
	Effective time.Time

	seq uint64
	at  int // place in the heap
}

// NewItem takes from a turn what the queue needs.
func NewItem(t *turn.Turn) Item {
	return Item{ID: t.ID, Strict: t.Hints.Strict, Class: t.Class(), Arrived: t.Arrived, Effective: t.Effective()}
}

// before is the order of the queue.
func (a *Item) before(b *Item) bool {
	return cmp.Or(
		cmp.Compare(b.Strict, a.Strict),
		a.Effective.Compare(b.Effective),
		a.Arrived.Compare(b.Arrived),
		cmp.Compare(a.seq, b.seq),
	) < 0
}

// Queue holds the turns that wait, in the order in which they should go. The
// zero value is ready. It belongs to one goroutine.
type Queue struct {
	Limit int // turns; 0 is DefaultQueue

	heap  order
	by    map[string]*Item
	seq   uint64
	spare *Item // the last that went, for the next that comes
}

// order is the heap under a Queue.
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

// Push adds a turn. An id that waits already and a full queue are errors.
func (q *Queue) Push(it Item) error {
	limit := q.Limit
	if limit <= 0 {
		limit = DefaultQueue
	}
	switch {
	case q.by[it.ID] != nil:
		return fmt.Errorf("queue turn %s: it waits already", it.ID)
	case len(q.heap) >= limit:
		return fmt.Errorf("queue turn %s: %d wait: %w", it.ID, len(q.heap), ErrQueueFull)
	case q.by == nil:
		q.by = map[string]*Item{}
	}
	q.seq++
	it.seq = q.seq
	waits := q.spare
	if q.spare = nil; waits == nil {
		waits = new(Item)
	}
	*waits = it
	q.by[it.ID] = waits
	heap.Push(&q.heap, waits)
	return nil
}

// Peek returns the turn that should go next and leaves it there.
func (q *Queue) Peek() (Item, bool) {
	if len(q.heap) == 0 {
		return Item{}, false
	}
	return *q.heap[0], true
}

// Pop takes out the turn that should go next.
func (q *Queue) Pop() (Item, bool) {
	if len(q.heap) == 0 {
		return Item{}, false
	}
	it := heap.Pop(&q.heap).(*Item)
	delete(q.by, it.ID)
	q.spare = it
	return *it, true
}

// Remove takes a turn out, wherever it is; false means that it does not wait.
func (q *Queue) Remove(id string) bool {
	it := q.by[id]
	if it == nil {
		return false
	}
	heap.Remove(&q.heap, it.at)
	delete(q.by, id)
	return true
}

// Len is how many turns wait.
func (q *Queue) Len() int { return len(q.heap) }

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
	for _, it := range q.heap {
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
