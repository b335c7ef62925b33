package jinja

// round runs one round of a loop, or takes it from the last rendering. next is
// the item of the round after it, missing where that is not at hand.
func (m *Memo) round(r *run, s *forStmt, v, next Value) (end signal, err error) {
	t := &m.trace
	i := t.find(v)
	if i == notOne && s.id == 0 {
		return s.play(r, v)
	}
	from, within, fresh := r.pos(), t.printed, true
	switch {
	case s.id == 0 || r.wild || r.rec != nil:
		t.inside++
		end, err = s.play(r, v)
		t.inside--
	default:
		l := &m.loops[s.id-1]
		c, at := l.find(r, s, v)
		if fresh = c == nil || !m.holds(r, s, v, c, at != l.n, next); fresh {
			end, err = m.run(r, s, v, c)
			break
		}
		end, err = c.end, m.replay(r, l, c)
	}
	switch {
	case err != nil:
	case i >= 0:
		t.visit(r, i, from, within, fresh)
	case i == several && r.rec != nil && r.pos() > from:
		// In a later rendering it may stand there once.
		r.rec.marks = append(r.rec.marks, mark{mapOf(v), from - r.rec.from, r.pos() - from})
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
		missed = (int(c.missed) + 1) % (retry * retry)
	}
	if missed < patience || missed%retry == 0 {
		c, end, err := m.record(r, s, l, v)
		c.missed = uint8(missed)
		l.add(r.desk, c)
		return end, err
	}
	m.trace.inside++
	end, err := s.play(r, v)
	m.trace.inside--
	l.add(r.desk, record{item: v, lost: true, missed: uint8(missed)})
	return end, err
}

// record runs a round and tells all there is to know of it.
func (m *Memo) record(r *run, s *forStmt, l *rounds, v Value) (record, signal, error) {
	from, steps, used := r.pos(), r.steps, r.bytes
	n := &r.desk.notes
	n.reset(r)
	r.rec = n
	m.trace.inside++
	end, err := s.play(r, v)
	m.trace.inside--
	r.rec = nil
	c := record{item: v, end: end, lost: n.lost || r.wild}
	if c.lost || err != nil {
		return c, end, err
	}
	c.steps, c.used = steps-r.steps, used-r.bytes
	c.at, c.size = from, r.pos()-from
	c.sh = l.shape(n)
	if len(n.marks) > 0 || r.captured > 0 && c.size > 0 {
		c.more = &more{marks: append([]mark(nil), n.marks...)}
		if r.captured > 0 {
			c.more.text = string(r.since(from))
		}
	}
	return c, end, err
}

// holds reports whether all that a round looked at is as it was. Looking costs
// the rendering nothing; what the round cost is charged when it is replayed.
func (m *Memo) holds(r *run, s *forStmt, v Value, c *record, elsewhere bool, next Value) bool {
	sh := c.sh
	if c.lost || sh.index && elsewhere {
		return false
	}
	near := sh.near > sh.same && !m.quiet(&m.loops[s.id-1], elsewhere, next)
	if sh.stamp == m.stamp && !near && sh.near == len(sh.looks) {
		return true
	}
	if r.assign(s.target, v) != nil {
		return false
	}
	steps, used, depth, args := r.steps, r.bytes, r.depth, len(r.args)
	ok := true
	if sh.stamp != m.stamp {
		if ok = hold(r, sh.looks[:sh.same]); ok {
			ok = writable(r, sh.writes)
		}
		if ok {
			sh.stamp = m.stamp
		}
	}
	ok = ok && (!near || hold(r, sh.looks[sh.same:sh.near])) && hold(r, sh.looks[sh.near:])
	r.steps, r.bytes, r.depth, r.args = steps, used, depth, r.args[:args]
	return ok
}

// quiet reports that a round has the number it had, the items around it, and
// the context. So it is for the round at hand if next is what it was: the
// rounds before it have been found in their places.
func (m *Memo) quiet(l *rounds, elsewhere bool, next Value) bool {
	i := l.n + 1
	return !elsewhere && !l.moved && m.steady && l.n > 0 && i < m.kept && i < len(l.recs) &&
		next.kind == kMap && next.p == l.recs[i].item.p && l.recs[i].item.kind == kMap
}

func hold(r *run, looks []look) bool {
	for i := range looks {
		if l := &looks[i]; !l.at.holds(r, l.key, &l.want) {
			return false
		}
	}
	return true
}

// writable reports whether what a round sets attributes of are namespaces.
func writable(r *run, writes []write) bool {
	for i := range writes {
		if r.target(writes[i].to).kind != kNamespace {
			return false
		}
	}
	return true
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
func (m *Memo) replay(r *run, l *rounds, c *record) error {
	m.reused++
	if c.used > r.bytes {
		return r.take(c.used)
	}
	r.bytes -= c.used
	if err := r.spend(c.steps); err != nil {
		return err
	}
	from := r.pos()
	switch {
	case c.more != nil && c.more.text != "":
		r.put(c.more.text)
	case c.size > 0:
		r.again(c.at, c.size)
	}
	if c.more != nil {
		for _, k := range c.more.marks {
			if i := m.trace.find(Mapping(k.m)); i >= 0 {
				m.trace.note(i, from+k.at, k.size, false)
			}
		}
	}
	for i := range c.sh.writes {
		w := &c.sh.writes[i]
		r.set(r.target(w.to).mapping(), w.to.attr, w.v)
	}
	l.reuse(r.desk, c, from)
	return r.wrote()
}

// reuse makes a round of the last rendering one of this, with its text at a
// place. It stays where it is if it can.
func (l *rounds) reuse(m *desk, c *record, at int) {
	if !l.moved && c == &l.recs[l.n] && (c.size == 0 || c.at == at) {
		l.n++
		return
	}
	again := *c
	again.at = at
	l.add(m, again)
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
