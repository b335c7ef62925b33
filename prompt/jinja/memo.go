package jinja

import "unsafe"

// Memo is what a rendering can reuse of the one before: the zero Memo is
// empty and ready. It belongs to one Template and one goroutine at a time. It
// holds what the rounds of the last rendering's loops looked at and where in
// the text they stand, and the context; the text is the caller's.
type Memo struct {
	of       *Template
	ctx      []Value // of the last rendering, by Template.names
	messages []Value // its list of that name; what it once held stays as it was
	loops    []rounds
	trace    trace
	sameness sameness

	kept   int    // so many of the first messages are those of the last rendering
	steady bool   // the context is too, messages apart
	stamp  uint64 // another whenever an attribute of a namespace is set, and in every rendering

	ran, reused int // rounds of the last rendering
	bytes       int
}

// Span is where in a rendering's output one message stands: Start to End is
// what the loop over the messages printed for it. Both are -1 where that is
// not known: when it was printed in several places or by no loop of its own.
// A message for which its loop printed nothing has Start equal to End. Fresh
// says that the text was made by this rendering, not taken from the one
// before.
type Span struct {
	Start, End int
	Fresh      bool
}

// Spans are the places of the members of the context's list "messages" in the
// text of the last RenderMemo, one each. They are empty after an error and for
// a template that does not name the list, and good until the next RenderMemo.
func (m *Memo) Spans() []Span { return m.trace.spans }

// Bytes is about how much memory the Memo holds beside the values that it was
// given: about a hundred bytes for a round of a loop.
func (m *Memo) Bytes() int { return m.bytes }

// RenderMemo gives the text that Render gives, and is faster where most is as
// it was in the last rendering with m: a round of a loop that sees nothing new
// gives the text it gave before. The members of the context's list "messages"
// are known by their *Map: the same pointer stands for the same message. Steps
// and bytes count as if every round had been run.
//
// last must be what the last RenderMemo with m returned, or a copy of it; the
// first time it is empty. The text is written over it, or elsewhere where
// there is no room, and same tells how much of it is as it was. After an error
// m holds what it held before, and the text is last's.
func (t *Template) RenderMemo(last []byte, ctx Value, o Options, m *Memo) (text []byte, same int, err error) {
	if m.of != t {
		*m = Memo{of: t, loops: make([]rounds, t.loops)}
	}
	r, err := t.start(ctx, o)
	if err != nil {
		m.trace.spans = m.trace.spans[:0]
		return last, 0, err
	}
	defer r.clearUp()
	r.memo = m
	r.last, r.out, r.inStep, r.tail = last, last[:0], len(last) > 0, r.desk.laid[:0]
	messages := m.begin(r)
	err = t.play(r)
	m.trace.end(r.out, err)
	m.end(r, err)
	r.desk.laid = r.tail
	if err != nil {
		m.messages = messages
		return r.restore(), 0, err
	}
	return r.out, r.same(), nil
}

// mostCompared is how many values a rendering compares with those before.
const mostCompared = 1 << 21

// begin takes up the context. What is as it was in the last rendering becomes
// the very same value, so that looking at it is quick. It returns the last
// rendering's messages.
func (m *Memo) begin(r *run) []Value {
	m.ran, m.reused, m.kept = 0, 0, 0
	m.stamp++
	for i := range m.loops {
		m.loops[i].begin()
	}
	before := m.messages
	m.sameness = sameness{exact: m.of.exact, left: mostCompared}
	m.steady = len(m.ctx) == len(r.ctx)
	known := m.steady
	messages := Value{}
	for i, name := range m.of.names {
		v := &r.ctx[i]
		switch _, global := globals[name]; {
		case name == "messages":
			if v.kind == kList {
				*v = m.list(v.items())
			}
			messages = *v
		case !known:
		case *v == m.ctx[i]:
		case m.sameness.same(*v, m.ctx[i]):
			*v = m.ctx[i]
		default:
			m.steady = false
			if global {
				m.forget()
			}
		}
	}
	m.trace.begin(r.desk, messages.items(), m.kept)
	m.sameness.trace = &m.trace
	return before
}

// list keeps the members of the list of messages in a slice of the Memo's own:
// what has been a member stays in its place as long as the list only grows.
func (m *Memo) list(vs []Value) Value {
	n := 0
	for n < len(vs) && n < len(m.messages) && vs[n].kind == kMap && vs[n] == m.messages[n] {
		n++
	}
	m.kept = n
	if n < len(m.messages) {
		m.messages = m.messages[:n:n]
	}
	m.messages = append(m.messages, vs[n:]...)
	return List(m.messages...)
}

func (m *Memo) forget() {
	for i := range m.loops {
		m.loops[i] = rounds{}
	}
}

// end makes the rendering the last one.
func (m *Memo) end(r *run, err error) {
	for i := range m.loops {
		m.loops[i].end(err != nil)
	}
	if err != nil {
		return
	}
	m.ctx = r.ctx
	m.bytes = int(unsafe.Sizeof(Value{}))*(len(m.ctx)+cap(m.messages)) + m.trace.bytes()
	for i := range m.loops {
		m.bytes += m.loops[i].bytes(m.stamp)
	}
}
