package jinja

func (s *forStmt) exec(r *run) (signal, error) {
	rec := r.rec
	if s.over != nil {
		r.rec = nil // it is noted once the loop has ended
	}
	v, err := s.iter.eval(r)
	r.rec = rec
	if err != nil {
		return done, at(s.line, err)
	}
	if s.recursive {
		return done, at(s.line, s.recur(r, v, 0))
	}
	if s.over != nil && r.rec != nil {
		return s.watched(r, v)
	}
	if s.tail != nil && r.rec != nil {
		return s.tailed(r, v)
	}
	return s.rounds(r, v, 0, nil)
}

// watched runs an inner loop over a list outside of the round under way.
func (s *forStmt) watched(r *run, v Value) (signal, error) {
	rec := r.rec
	sig, err := s.rounds(r, v, 0, nil)
	if err != nil {
		return sig, err
	}
	n, broke := r.turns, r.broke
	took := v
	switch v.kind {
	case kList, kTuple:
		took = members(v.kind, v.items()[:n])
	case kRange:
		all := as[span](v)
		took = boxed(kRange, &span{all.start, all.start + int64(n)*all.step, all.step})
	default:
		rec.note(r, s.over, s.over.bare, Value{}, v)
		return sig, nil
	}
	rec.note(r, (*watchLoop)(s.over), s.over.bare, tookKey(0, n, !broke), took)
	return sig, nil
}

// tailed runs an inner loop over the rest of a list outside.
func (s *forStmt) tailed(r *run, v Value) (signal, error) {
	rec, began := r.rec, r.began
	sig, err := s.rounds(r, v, 0, nil)
	if err != nil {
		return sig, err
	}
	if began < 0 || v.kind != kList && v.kind != kTuple {
		rec.lost = true
		return sig, nil
	}
	rec.note(r, s.tail, s.tail.bare, tookKey(began, r.turns, !r.broke), members(v.kind, v.items()[:r.turns]))
	return sig, nil
}

// recur runs a recursive loop over v in a frame of its own.
func (s *forStmt) recur(r *run, v Value, depth int) error {
	if r.depth++; r.depth > r.o.Depth {
		return r.tooDeepCall()
	}
	up := r.fr
	r.fr = &frame{vars: make([]Value, s.fn.slots), up: up}
	if err := r.take(s.fn.slots * perItem); err != nil {
		return err
	}
	_, err := s.rounds(r, v, depth, up)
	r.fr = up
	r.depth--
	return err
}

// rounds runs the loop's body for every item of a value, or its else.
func (s *forStmt) rounds(r *run, over Value, depth int, around *frame) (signal, error) {
	if r.memo == nil {
		return s.all(r, over, depth, around)
	}
	before := r.memo.trace.enter()
	sig, err := s.all(r, over, depth, around)
	r.memo.trace.leave(before)
	return sig, err
}

// all is rounds once it is known who watches.
func (s *forStmt) all(r *run, over Value, depth int, around *frame) (signal, error) {
	if s.loopVar == nil && s.test == nil && (over.kind == kList || over.kind == kMap || over.kind == kTuple) {
		vs, _ := r.list(over)
		if s.search != nil && s.id == 0 {
			if ok, err := s.find(r, vs); ok {
				return done, at(s.line, err)
			}
		}
		s.room(r, len(vs))
		return s.plain(r, vs)
	}
	if s.loopVar == nil && s.test == nil && over.kind == kRange {
		return s.counted(r, as[span](over))
	}
	l := s.variable(r)
	*l = loop{total: -1, depth: depth, again: s, at: around, index: -1}
	if err := s.source(r, l, over); err != nil {
		return done, at(s.line, err)
	}
	if s.loopVar != nil {
		r.fr.vars[s.loopVar.at.slot] = boxed(kLoop, l)
	}
	if !s.brief {
		return s.stepped(r, l, over)
	}
	var sig signal
	var err error
	if l.it == nil {
		s.room(r, len(l.vs))
		sig, err = s.listed(r, l, over)
	} else {
		sig, err = s.stepped(r, l, over)
	}
	s.done(r, l)
	return sig, err
}

// source tells a loop where its items come from.
func (s *forStmt) source(r *run, l *loop, v Value) error {
	if s.test == nil && (v.kind == kList || v.kind == kTuple || v.kind == kMap) {
		l.vs, _ = r.list(v)
		l.total = len(l.vs)
		return nil
	}
	if v.kind == kView && s.test == nil {
		if w := as[view](v); w.name == "dict_items" && w.of.Len() <= handful {
			l.vs = w.pairs()
			l.total = len(l.vs)
			return nil
		}
	}
	var err error
	if l.it, err = r.iterate(v); err != nil {
		return err
	}
	if s.test != nil {
		l.it = s.filtered(r, l.it)
	} else if v.kind == kIter || v.kind == kLoop {
		return nil
	} else if n, err := length(v); err == nil {
		l.total = n
	}
	return nil
}

// filtered lets those items through that meet the loop's condition.
func (s *forStmt) filtered(r *run, it *iterator) *iterator {
	t := s.test.(*loopTest)
	home := r.fr
	return &iterator{"generator", func() (Value, bool, error) {
		// A macro called in the body may ask for the loop's next item.
		caller := r.fr
		r.fr = home
		defer func() { r.fr = caller }()
		for {
			v, ok, err := it.next()
			if !ok || err != nil {
				return v, false, err
			}
			if err := r.spend(2); err != nil {
				return v, false, err
			}
			r.begin(s.testInit)
			if err := r.assign(t.target, v); err != nil {
				return v, false, err
			}
			if ok, err := t.cond.test(r); ok || err != nil {
				return v, ok, err
			}
		}
	}}
}
