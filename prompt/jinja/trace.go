package jinja

import (
	"slices"
	"unsafe"
)

// trace finds out which part of the output each message made: every round of
// every loop whose item is a message counts.
type trace struct {
	finder
	*desk // of the rendering under way
	spans []Span
	last  int // the message found last: loops mostly take them in order

	printed int // rounds that printed something, in all
	loop    int // the one under way
	inside  int // rounds under way
}

// seen is what is known of a message's place.
type seen uint8

const (
	unseen   seen = iota
	printed       // by one round
	silent        // a round printed nothing for it
	anywhere      // by several rounds, or it cannot be known
)

// visit is one round of a loop over messages.
type visit struct{ item, loop, at int }

// held is the text of a round that was captured: its place counts only if the
// text ends up there.
type held struct {
	item int
	text string
}

// begin takes up the messages of a rendering, of which the first are known.
func (t *trace) begin(m *desk, messages []Value, known int) {
	t.desk = m
	t.finder.begin(messages, known)
	t.spans = slices.Grow(t.spans[:0], len(messages))[:len(messages)]
	m.seen = slices.Grow(m.seen[:0], len(messages))[:len(messages)]
	clear(m.seen)
	for i := range t.spans {
		t.spans[i] = Span{-1, -1, true}
	}
	t.printed, t.last, t.loop, t.inside = 0, -1, 0, 0
	m.empties, m.held, m.loopPrinted = m.empties[:0], m.held[:0], append(m.loopPrinted[:0], false)
}

func mapOf(v Value) *Map {
	if v.kind != kMap {
		return nil
	}
	return v.mapping()
}

// find is the number of the message that an item is.
func (t *trace) find(v Value) int {
	if v.kind != kMap {
		return notOne
	}
	if !t.twice {
		for _, i := range [...]int{t.last + 1, t.last - 1} {
			if i >= 0 && i < len(t.items) && t.items[i].p == v.p && t.items[i].kind == kMap {
				t.last = i
				return i
			}
		}
	}
	i := t.number(v.mapping())
	if i >= 0 {
		t.last = i
	}
	return i
}

// enter begins a run of a loop; what it returns goes to leave.
func (t *trace) enter() int {
	before := t.loop
	t.loop = len(t.loopPrinted)
	t.loopPrinted = append(t.loopPrinted, false)
	return before
}

func (t *trace) leave(before int) { t.loop = before }

// visit notes a round over message i, which began at from. within says how
// many rounds had printed something before it.
func (t *trace) visit(r *run, i, from, within int, fresh bool) {
	size := r.pos() - from
	switch {
	case size == 0:
		if r.captured == 0 && t.inside == 0 {
			t.empties = append(t.empties, visit{i, t.loop, from})
		}
		return
	case t.printed != within:
		t.seen[i] = anywhere
		r.unsteady()
	case r.captured > 0:
		r.unsteady()
		if t.seen[i] == unseen {
			t.held = append(t.held, held{i, string(r.since(from))})
		}
	}
	if r.rec != nil {
		r.rec.marks = append(r.rec.marks, mark{mapOf(t.items[i]), from - r.rec.from, size})
	}
	t.note(i, from, size, fresh)
}

// note keeps where a message was printed.
func (t *trace) note(i, at, size int, fresh bool) {
	t.printed++
	t.loopPrinted[t.loop] = true
	if t.seen[i] != unseen {
		t.seen[i] = anywhere
		return
	}
	t.seen[i] = printed
	t.spans[i] = Span{at, at + size, fresh}
}

// bytes is about how much memory the trace holds.
func (t *trace) bytes() int {
	return t.finder.bytes() + cap(t.spans)*int(unsafe.Sizeof(Span{}))
}

// end decides what the rendering could not know while it ran.
func (t *trace) end(out []byte, err error) {
	defer func() { t.desk = nil }()
	if err != nil {
		t.spans = t.spans[:0]
		t.forget()
		return
	}
	for _, h := range t.held {
		if s := t.spans[h.item]; s.End > len(out) || string(out[s.Start:s.End]) != h.text {
			t.seen[h.item] = anywhere
		}
	}
	for _, v := range t.empties {
		if !t.loopPrinted[v.loop] || t.seen[v.item] == printed || v.at > len(out) {
			continue
		}
		switch s := &t.spans[v.item]; {
		case t.seen[v.item] == unseen:
			t.seen[v.item] = silent
			s.Start, s.End = v.at, v.at
		case s.Start != v.at:
			t.seen[v.item] = anywhere
		}
	}
	for i, n := range t.seen {
		if n == anywhere {
			t.spans[i].Start, t.spans[i].End = -1, -1
		}
	}
}
