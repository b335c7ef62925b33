package jinja

import "sync"

// desk is the work memory of one rendering. What is in it is good for that
// rendering only; desks go from one to the next.
type desk struct {
	args          []Value // of the calls under way
	spare         []*args
	loops         []*loop
	scratch, side []byte // of JSON, and of captured texts
	laid          []byte // of the text before, see output
	notes         recording
	spill         []record // rounds of the last rendering that have lost their places

	seen    []seen
	empties []visit // rounds that printed nothing
	held    []held  // rounds inside of what was captured

	loopPrinted []bool // of every loop run over messages, whether it printed
}

var desks = sync.Pool{New: func() any { return new(desk) }}

// mostKept is how many bytes of a buffer a desk keeps.
const mostKept = 1 << 20

// clearUp gives a desk back, without what it holds of a rendering.
func (m *desk) clearUp() {
	for _, b := range [...]*[]byte{&m.scratch, &m.side, &m.laid} {
		if cap(*b) > mostKept {
			*b = nil
		}
		*b = (*b)[:0]
	}
	for _, a := range m.spare {
		*a = args{}
	}
	m.args, m.spill = emptied(m.args), emptied(m.spill)
	m.empties, m.held = emptied(m.empties), emptied(m.held)
	n := &m.notes
	n.looks, n.writes, n.marks, n.set = emptied(n.looks), emptied(n.writes), emptied(n.marks), emptied(n.set)
	desks.Put(m)
}

// emptied is a slice without members, and with its room unless that is large.
func emptied[T any](vs []T) []T {
	if cap(vs) > 1<<12 {
		return nil
	}
	clear(vs[:cap(vs)])
	return vs[:0]
}
