package jinja

// Memo is what a rendering can reuse of the one before: the zero Memo is
// empty and ready. It belongs to one Template and one goroutine at a time, and
// holds no more than the last rendering did.
type Memo struct {
	of    *Template
	trace trace
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

// RenderMemo is Render, byte for byte, and faster where m holds a rendering
// whose messages were mostly the same. The members of the context's list
// "messages" are known by their *Map: the same pointer stands for the same
// message. Without a Memo it is Render.
func (t *Template) RenderMemo(dst []byte, ctx Value, o Options, m *Memo) ([]byte, error) {
	if m == nil {
		return t.Render(dst, ctx, o)
	}
	if m.of != t {
		*m = Memo{of: t}
	}
	r, err := t.start(dst, ctx, o)
	if err != nil {
		m.trace.begin(nil)
		return dst, err
	}
	messages, _ := ctx.mapping().Find("messages")
	m.trace.begin(messages.items())
	r.memo = m
	out, err := t.finish(r, dst)
	m.trace.end(out[len(dst):], err)
	return out, err
}

// traced runs one round of a loop and notes what it printed for a message.
func (m *Memo) traced(r *run, s *forStmt, v Value) (bool, error) {
	t := &m.trace
	i := t.find(v)
	if i < 0 {
		return s.play(r, v)
	}
	from, within := len(r.out), t.printed
	stop, err := s.play(r, v)
	if err == nil {
		t.visit(i, from-r.base, r.out[from:], within, r.captured > 0, true)
	}
	return stop, err
}
