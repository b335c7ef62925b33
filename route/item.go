package route

import (
	"cmp"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// Item is a turn that waits.
type Item struct {
	ID        string
	Strict    int // the band
	Class     turn.Class
	Tenant    string        // whose key it is; "" is nobody's in particular
	Attained  time.Duration // what its session had of workers' time of late, see Books.Attained
	Arrived   time.Time
	Effective time.Time
	Since     time.Time // when it came, where its place is that of an earlier attempt; zero is Arrived
	Held      bool      // by the gate: it keeps its place and lets others by, see Queue.PopHeld
	Begun     bool      // its client has heard something already: no limit refuses it

	seq   uint64
	at    int  // place in the heap, or among those aside
	aside bool // see Queue.Pass
	from  hall // that it was taken out of
}

// NewItem takes from a turn what the queue needs.
func NewItem(t *turn.Turn) Item {
	return Item{ID: t.ID, Strict: t.Hints.Strict, Class: t.Class(), Tenant: t.Tenant, Arrived: t.Arrived, Effective: t.Effective()}
}

// Age is how long the turn has waited, this time.
func (a *Item) Age(now time.Time) time.Duration {
	if a.Since.IsZero() {
		return now.Sub(a.Arrived)
	}
	return now.Sub(a.Since)
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
