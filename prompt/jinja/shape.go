package jinja

// shape is what a round looked at, what it saw, and what it set. Rounds of a
// loop that are alike in that share one.
type shape struct {
	looks  []look // those that are the same for all rounds, then those that tell of the place, then the rest
	same   int    // so many of the first are of the first kind
	near   int    // so many of the first two
	writes []write
	index  bool   // the number of the round
	stamp  uint64 // of the Memo when the looks of the first kind were found to hold
	noted  uint64 // of the Memo when it was counted last
}

// reach is how far what a watcher gives may differ from round to round.
type reach uint8

const (
	anyReach reach = iota // it may
	// allReach depends on nothing in the round: it is the same until an
	// attribute of a namespace is set.
	allReach
	// nearReach depends on nothing but the number of the round, the items
	// before and after, whether there are such, and the context.
	nearReach
)

// look is what a watcher gave.
type look struct {
	at        watcher
	key, want Value
}

// write is an assignment to a namespace outside.
type write struct {
	to *fieldExpr
	v  Value
}

// newest is how many shapes of a loop are compared with a new one.
const newest = 8

// rounds are those of one loop. Those of the last rendering stay where they
// are as long as this one runs the same.
type rounds struct {
	recs []record // the first n are of this rendering, the others of the last
	n    int
	// Once a round of this rendering is another, the rest of the last one's are
	// moved away.
	moved bool
	kept  int      // how many were not
	rest  []record // the others
	next  int      // of rest: the one after the last that was found

	shapes [newest]*shape
	turn   int
}

// ahead is how many rounds that are no more are looked over.
const ahead = 64

// begin makes ready for a rendering.
func (l *rounds) begin() { l.n, l.moved, l.kept, l.rest, l.next = 0, false, 0, nil, 0 }

// find is the round that the last rendering ran over an item, nil if there is
// none further on, and its number.
func (l *rounds) find(v Value, s *sameness) (*record, int) {
	from, list, offset := l.n, l.recs, 0
	if l.moved {
		from, list, offset = l.next, l.rest, l.kept
	}
	for i := from; i < min(len(list), from+ahead); i++ {
		if c := &list[i]; v.kind == kMap && v.p == c.item.p && c.item.kind == kMap || s.same(v, c.item) {
			l.next = i + 1
			return c, i + offset
		}
	}
	return nil, -1
}

// move moves the rounds of the last rendering away that have not been found.
func (l *rounds) move(m *desk) {
	from := len(m.spill)
	m.spill = append(m.spill, l.recs[l.n:]...)
	l.rest = m.spill[from:len(m.spill):len(m.spill)]
	l.moved, l.kept = true, l.n
	l.next = max(0, l.next-l.n)
}

// add puts a round behind those of this rendering.
func (l *rounds) add(m *desk, c record) {
	if !l.moved {
		l.move(m)
	}
	l.recs = append(l.recs[:l.n], c)
	l.n++
}

// end keeps the rounds of this rendering, or those of the last.
func (l *rounds) end(failed bool) {
	switch {
	case !failed:
		clear(l.recs[l.n:])
		l.recs = l.recs[:l.n]
	case l.moved:
		l.recs = append(l.recs[:l.kept], l.rest...)
	}
	l.rest = nil
}

// shape is the shape of what was noted, which is one of the newest ones or new.
func (l *rounds) shape(c *recording) *shape {
	for _, s := range l.shapes {
		if s != nil && s.is(c) {
			return s
		}
	}
	s := &shape{index: c.index}
	if n := len(c.looks); n > 0 {
		s.looks = make([]look, 0, n)
		s.same = s.sort(c.looks, allReach)
		s.near = s.sort(c.looks, nearReach)
		s.sort(c.looks, anyReach)
	}
	if n := len(c.writes); n > 0 {
		s.writes = append(make([]write, 0, n), c.writes...)
	}
	l.shapes[l.turn%newest] = s
	l.turn++
	return s
}

// sort takes over the looks of one kind and returns how many there are then.
func (s *shape) sort(looks []look, kind reach) int {
	for i := range looks {
		if looks[i].at.reach() == kind {
			s.looks = append(s.looks, looks[i])
		}
	}
	return len(s.looks)
}

// is reports a shape of just what was noted. Both list the looks in the order
// of the template, but for their kinds.
func (s *shape) is(c *recording) bool {
	if s.index != c.index || len(s.looks) != len(c.looks) || len(s.writes) != len(c.writes) {
		return false
	}
	at := [...]int{anyReach: s.near, allReach: 0, nearReach: s.same}
	for i := range c.looks {
		k := c.looks[i].at.reach()
		n := at[k]
		if n >= len(s.looks) || s.looks[n] != c.looks[i] {
			return false
		}
		at[k]++
	}
	for i := range c.writes {
		if s.writes[i] != c.writes[i] {
			return false
		}
	}
	return true
}
