package jinja

// record is one round of a loop: its item, what it looked at, what it printed
// and what it set.
type record struct {
	item        Value
	at, size    int // its text in Memo.text
	looks       []look
	writes      []write
	marks       []mark
	steps, used int // and bytes
	end         signal
	lost        bool // it cannot be reused
	missed      int  // renderings in a row that could not reuse it
}

// rounds are those of one loop in the last rendering and in this one.
type rounds struct {
	old, now []record
	next     int // of old: the one after the last that was found
}

// ahead is how many rounds that are no more are looked over.
const ahead = 64

// find is the round that the last rendering ran over an item, nil if there is
// none further on.
func (l *rounds) find(v Value, s *sameness) *record {
	for i := l.next; i < min(len(l.old), l.next+ahead); i++ {
		if s.same(v, l.old[i].item) {
			l.next = i + 1
			return &l.old[i]
		}
	}
	return nil
}

// round runs one round of a loop, or takes it from the last rendering.
func (m *Memo) round(r *run, s *forStmt, v Value) (end signal, err error) {
	t := &m.trace
	i := t.find(v)
	if i == notOne && s.id == 0 {
		return s.play(r, v)
	}
	from, within, fresh := len(r.out), t.printed, true
	switch {
	case s.id == 0 || r.wild || r.rec != nil:
		t.inside++
		end, err = s.play(r, v)
		t.inside--
	default:
		l := &m.loops[s.id-1]
		c := l.find(v, &m.sameness)
		if fresh = c == nil || !m.holds(r, s, v, c); fresh {
			end, err = m.run(r, s, v, c)
			break
		}
		l.now = append(l.now, *c)
		end, err = c.end, m.replay(r, c)
	}
	switch {
	case err != nil:
	case i >= 0:
		t.visit(r, i, from, within, fresh)
	case i == several && r.rec != nil && len(r.out) > from:
		// In a later rendering it may stand there once.
		r.rec.marks = append(r.rec.marks, mark{mapOf(v), from - r.rec.from, len(r.out) - from})
		r.rec.lost = r.rec.lost || r.captured > 0
	}
	return end, err
}

// patience is how often in a row a round may look at something new before it
// is run without being noted, and how often that is tried again.
const patience, retry = 3, 16

// run runs a round that was c, if anything, in the last rendering.
func (m *Memo) run(r *run, s *forStmt, v Value, c *record) (signal, error) {
	m.ran++
	l, missed := &m.loops[s.id-1], 0
	if c != nil {
		missed = c.missed + 1
	}
	if missed < patience || missed%retry == 0 {
		c, end, err := m.record(r, s, v)
		c.missed = missed
		l.now = append(l.now, c)
		return end, err
	}
	m.trace.inside++
	end, err := s.play(r, v)
	m.trace.inside--
	l.now = append(l.now, record{item: v, lost: true, missed: missed})
	return end, err
}

// record runs a round and tells all there is to know of it.
func (m *Memo) record(r *run, s *forStmt, v Value) (record, signal, error) {
	from, steps, used := len(r.out), r.steps, r.bytes
	m.rec.reset(r)
	r.rec = &m.rec
	m.trace.inside++
	end, err := s.play(r, v)
	m.trace.inside--
	r.rec = nil
	c := record{item: v, end: end, lost: m.rec.lost || r.wild}
	if !c.lost && err == nil {
		c.steps, c.used = steps-r.steps, used-r.bytes
		c.at, c.size = len(m.text), len(r.out)-from
		m.text = append(m.text, r.out[from:]...)
		c.looks, c.writes, c.marks = exactly(m.rec.looks), exactly(m.rec.writes), exactly(m.rec.marks)
	}
	return c, end, err
}

func exactly[T any](vs []T) []T {
	if len(vs) == 0 {
		return nil
	}
	return append(make([]T, 0, len(vs)), vs...)
}

// holds reports whether all that a round looked at is as it was. Looking costs
// the rendering nothing; what the round cost is charged when it is replayed.
func (m *Memo) holds(r *run, s *forStmt, v Value, c *record) bool {
	if c.lost || r.assign(s.target, v) != nil {
		return false
	}
	steps, used, depth, args := r.steps, r.bytes, r.depth, len(r.args)
	ok := true
	for i := range c.looks {
		l := &c.looks[i]
		if ok = l.at.holds(r, l.key, &l.want); !ok {
			break
		}
	}
	for i := 0; ok && i < len(c.writes); i++ {
		ok = r.target(c.writes[i].to).kind == kNamespace
	}
	r.steps, r.bytes, r.depth, r.args = steps, used, depth, r.args[:args]
	return ok
}

// target is the namespace that an assignment outside of a round goes to.
func (r *run) target(t *fieldExpr) *Value {
	before := r.fr
	r.fr = r.below(t.depth)
	v := t.ns.ref(r)
	r.fr = before
	return v
}

// replay does what a round did.
func (m *Memo) replay(r *run, c *record) error {
	m.reused++
	if c.used > r.bytes {
		return r.take(c.used)
	}
	r.bytes -= c.used
	if err := r.spend(c.steps); err != nil {
		return err
	}
	from := len(r.out)
	r.out = append(r.out, m.text[c.at:c.at+c.size]...)
	for _, k := range c.marks {
		if i := m.trace.find(Mapping(k.m)); i >= 0 {
			m.trace.note(i, from-r.base+k.at, k.size, false)
		}
	}
	for _, w := range c.writes {
		r.target(w.to).mapping().Set(w.to.attr, w.v)
	}
	return r.wrote()
}

// renew compares what a watcher gives with what it gave.
func (m *Memo) renew(r *run, v Value, want *Value) bool {
	if v.kind == kMacro && as[macro](v).up != r.root || !m.sameness.same(v, *want) {
		return false
	}
	if v.kind == kList || v.kind == kTuple || v.kind == kMap {
		*want = v
	}
	return true
}
