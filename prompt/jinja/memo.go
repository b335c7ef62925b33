package jinja

import "unsafe"

// Memo is what a rendering can reuse of the one before: the zero Memo is
// empty and ready. It belongs to one Template and one goroutine at a time. It
// holds the text of the last rendering's loops, what their rounds looked at,
// and the context.
type Memo struct {
	of       *Template
	ctx      []Value // of the last rendering, by Template.names
	messages []Value // its list of that name; what it once held stays as it was
	loops    []rounds
	text     []byte // of their rounds
	trace    trace
	sameness sameness
	rec      recording

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
// text of the last RenderMemo, one each, offsets counted from where that text
// begins. They are empty after an error, and good until the next RenderMemo.
func (m *Memo) Spans() []Span { return m.trace.spans }

// Bytes is about how much memory the Memo holds beside the values that it was
// given: some hundreds of bytes for a round of a loop, and its text.
func (m *Memo) Bytes() int { return m.bytes }

// RenderMemo is Render, byte for byte, and faster where m holds a rendering
// of which most is the same: a round of a loop that sees nothing new gives the
// text it gave before. The members of the context's list "messages" are known
// by their *Map: the same pointer stands for the same message. Steps and bytes
// count as if every round had been run. After an error m holds what it held
// before. Without a Memo it is Render.
func (t *Template) RenderMemo(dst []byte, ctx Value, o Options, m *Memo) ([]byte, error) {
	if m == nil {
		return t.Render(dst, ctx, o)
	}
	if m.of != t {
		*m = Memo{of: t, loops: make([]rounds, t.loops)}
	}
	r, err := t.start(dst, ctx, o)
	if err != nil {
		m.trace.begin(nil)
		return dst, err
	}
	r.memo = m
	m.begin(r)
	out, err := t.finish(r, dst)
	m.trace.end(out[len(dst):], err)
	m.end(r, err)
	return out, err
}

// mostCompared is how many values a rendering compares with those before.
const mostCompared = 1 << 21

// begin takes up the context. What is as it was in the last rendering becomes
// the very same value, so that looking at it is quick.
func (m *Memo) begin(r *run) {
	m.ran, m.reused = 0, 0
	for i := range m.loops {
		m.loops[i].now, m.loops[i].next = m.loops[i].now[:0], 0
	}
	m.sameness = sameness{exact: m.of.exact, left: mostCompared}
	known := len(m.ctx) == len(r.ctx)
	for i, name := range m.of.names {
		v := &r.ctx[i]
		switch _, global := globals[name]; {
		case name == "messages" && v.kind == kList:
			*v = m.list(v.items())
		case !known:
		case m.sameness.same(*v, m.ctx[i]):
			*v = m.ctx[i]
		case global:
			m.forget()
		}
	}
	messages := Value{}
	for i, name := range m.of.names {
		if name == "messages" {
			messages = r.ctx[i]
		}
	}
	m.trace.begin(messages.items())
	m.sameness.messages = m.trace.index
	m.trace.text = len(m.text)
}

// list keeps the members of the list of messages in a slice of the Memo's own:
// what has been a member stays in its place as long as the list only grows.
func (m *Memo) list(vs []Value) Value {
	n := 0
	for n < len(vs) && n < len(m.messages) && mapOf(vs[n]) != nil && mapOf(vs[n]) == mapOf(m.messages[n]) {
		n++
	}
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
	m.text = nil
}

// end makes the rendering the last one.
func (m *Memo) end(r *run, err error) {
	if err != nil {
		m.text = m.text[:min(len(m.text), m.trace.text)]
		for i := range m.loops {
			clear(m.loops[i].now)
		}
		return
	}
	m.ctx = r.ctx
	live := 0
	m.bytes = int(unsafe.Sizeof(Value{}))*(len(m.ctx)+cap(m.messages)) + m.trace.bytes()
	for i := range m.loops {
		l := &m.loops[i]
		l.old, l.now = l.now, l.old
		clear(l.now)
		for i := range l.old {
			c := &l.old[i]
			live += c.size
			m.bytes += int(unsafe.Sizeof(*c)) + len(c.looks)*int(unsafe.Sizeof(look{})) + len(c.writes)*int(unsafe.Sizeof(write{}))
		}
	}
	if len(m.text) > 2*live+4096 {
		m.pack(live)
	}
	m.bytes += cap(m.text)
}

// pack drops the text that no round refers to any more.
func (m *Memo) pack(live int) {
	text := make([]byte, 0, live)
	for i := range m.loops {
		old := m.loops[i].old
		for j := range old {
			c := &old[j]
			text = append(text, m.text[c.at:c.at+c.size]...)
			c.at = len(text) - c.size
		}
	}
	m.text = text
}
