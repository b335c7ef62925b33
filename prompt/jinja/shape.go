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
