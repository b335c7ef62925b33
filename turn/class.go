package turn

import "time"

// Class is a turn's default urgency inside its band. It is a row of the queue
// panel and adds to the turn's priority; it is never a second order.
type Class uint8

// The classes, with what each adds to the priority.
const (
	P0 Class = iota // a lead's turn: +10 s
	P1              // a subagent's turn: 0 s
	P2              // a batch turn: −60 s
)

// Class returns the turn's class.
func (t *Turn) Class() Class {
	switch {
	case t.Hints.Batch:
		return P2
	case t.Who.Lead():
		return P0
	}
	return P1
}

// boost is what a class adds to the priority, in seconds.
func (c Class) boost() int { return [...]int{10, 0, -60}[c] }

// Effective is the arrival that counts in the queue: the arrival, earlier by
// one second for each point of priority, the class's default included, up to
// the key's ceiling.
func (t *Turn) Effective() time.Time {
	p := t.Hints.Priority + t.Class().boost()
	if t.Ceiling != nil {
		p = min(p, *t.Ceiling)
	}
	return t.Arrived.Add(-time.Duration(p) * time.Second)
}
