package jinja

import "unsafe"

// trace finds out which part of the output each message made: every round of
// every loop whose item is a message counts.
type trace struct {
	items []*Map // the messages of the last rendering, nil for other things
	index map[*Map]int
	twice bool // a message stands in the list more than once
	last  int  // the message found last: loops mostly take them in order

	spans   []Span
	seen    []seen
	printed int     // rounds that printed something, in all
	empties []visit // rounds that printed nothing
	held    []held  // rounds inside of what was captured
	loops   []bool  // of every loop run over messages, whether it printed
	loop    int     // the one under way
	inside  int     // rounds under way
	text    int     // how long Memo.text was before
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

// begin takes up the messages of a rendering.
func (t *trace) begin(messages []Value) {
	same := 0
	for same < len(t.items) && same < len(messages) && t.items[same] == mapOf(messages[same]) {
		same++
	}
	same = t.forget(same)
	for i, v := range messages[same:] {
		m := mapOf(v)
		t.items = append(t.items, m)
		if _, twice := t.index[m]; twice {
			t.index[m], t.twice = several, true // which of them is meant is never known
		} else if m != nil {
			t.index[m] = same + i
		}
	}
	t.spans, t.seen = t.spans[:0], t.seen[:0]
	for range messages {
		t.spans = append(t.spans, Span{-1, -1, true})
		t.seen = append(t.seen, unseen)
	}
	t.printed, t.last, t.loop = 0, -1, 0
	t.empties, t.held, t.loops = t.empties[:0], t.held[:0], append(t.loops[:0], false)
}

// forget drops the messages from number n on, or all of them where it takes
// to know which of two is meant. It returns how many are left.
func (t *trace) forget(n int) int {
	if t.twice || t.index == nil {
		n, t.twice = 0, false
		t.index = make(map[*Map]int)
	}
	for _, m := range t.items[n:] {
		delete(t.index, m)
	}
	clear(t.items[n:])
	t.items = t.items[:n]
	return n
}

func mapOf(v Value) *Map {
	if v.kind != kMap {
		return nil
	}
	return v.mapping()
}

// notOne is what find returns for what is no message, several for one that
// stands in the list more than once.
const notOne, several = -1, -2

// find is the number of the message that an item is.
func (t *trace) find(v Value) int {
	m := mapOf(v)
	if m == nil {
		return notOne
	}
	for _, i := range [...]int{t.last + 1, t.last - 1} {
		if i >= 0 && i < len(t.items) && t.items[i] == m {
			if t.twice && t.index[m] < 0 {
				return several
			}
			t.last = i
			return i
		}
	}
	i, ok := t.index[m]
	if !ok {
		return notOne
	}
	if i >= 0 {
		t.last = i
	}
	return i
}

// enter begins a run of a loop; what it returns goes to leave.
func (t *trace) enter() int {
	before := t.loop
	t.loop = len(t.loops)
	t.loops = append(t.loops, false)
	return before
}

func (t *trace) leave(before int) { t.loop = before }

// visit notes a round over message i, which began at from. within says how
// many rounds had printed something before it.
func (t *trace) visit(r *run, i, from, within int, fresh bool) {
	at, text := from-r.base, r.out[from:]
	switch {
	case len(text) == 0:
		if r.captured == 0 && t.inside == 0 {
			t.empties = append(t.empties, visit{i, t.loop, at})
		}
		return
	case t.printed != within:
		t.seen[i] = anywhere
		r.unsteady()
	case r.captured > 0:
		r.unsteady()
		if t.seen[i] == unseen {
			t.held = append(t.held, held{i, string(text)})
		}
	}
	if r.rec != nil {
		r.rec.marks = append(r.rec.marks, mark{t.items[i], from - r.rec.from, len(text)})
	}
	t.note(i, at, len(text), fresh)
}

// note keeps where a message was printed.
func (t *trace) note(i, at, size int, fresh bool) {
	t.printed++
	t.loops[t.loop] = true
	if t.seen[i] != unseen {
		t.seen[i] = anywhere
		return
	}
	t.seen[i] = printed
	t.spans[i] = Span{at, at + size, fresh}
}

// bytes is about how much memory the trace holds.
func (t *trace) bytes() int {
	const entry = 40 // of a map from pointers to numbers
	return cap(t.items)*8 + len(t.index)*entry + cap(t.spans)*int(unsafe.Sizeof(Span{})) + cap(t.seen) + cap(t.empties)*int(unsafe.Sizeof(visit{}))
}

// end decides what the rendering could not know while it ran.
func (t *trace) end(out []byte, err error) {
	if err != nil {
		t.spans = t.spans[:0]
		return
	}
	for _, h := range t.held {
		if s := t.spans[h.item]; s.End > len(out) || string(out[s.Start:s.End]) != h.text {
			t.seen[h.item] = anywhere
		}
	}
	for _, v := range t.empties {
		if !t.loops[v.loop] || t.seen[v.item] == printed || v.at > len(out) {
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
