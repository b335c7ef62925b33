package jinja

import "unsafe"

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
func (l *rounds) find(r *run, loop *forStmt, v Value) (*record, int) {
	if loop.blind {
		return l.seek(r)
	}
	s := &r.memo.sameness
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

// seek is find for a loop that never asks for its item: it looks for a round
// that saw what is different from round to round.
func (l *rounds) seek(r *run) (*record, int) {
	from, list, offset := l.n, l.recs, 0
	if l.moved {
		from, list, offset = l.next, l.rest, l.kept
	}
	steps, used := r.steps, r.bytes
	defer func() { r.steps, r.bytes = steps, used }()
	for i := from; i < min(len(list), from+ahead); i++ {
		c := &list[i]
		if c.sh == nil || len(c.sh.looks) == c.sh.near || hold(r, c.sh.looks[c.sh.near:c.sh.near+1]) {
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

// bytes is about how much memory the rounds take. stamp is that of this
// counting.
func (l *rounds) bytes(stamp uint64) int {
	n := cap(l.recs) * int(unsafe.Sizeof(record{}))
	for i := range l.recs {
		c := &l.recs[i]
		if c.more != nil {
			n += int(unsafe.Sizeof(*c.more)) + len(c.more.text) + len(c.more.marks)*int(unsafe.Sizeof(mark{}))
		}
		if s := c.sh; s != nil && s.noted != stamp {
			s.noted = stamp
			n += int(unsafe.Sizeof(*s)) + len(s.looks)*int(unsafe.Sizeof(look{})) + len(s.writes)*int(unsafe.Sizeof(write{}))
		}
	}
	return n
}
