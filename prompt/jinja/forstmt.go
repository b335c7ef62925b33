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

// stepped is a loop that others may take items from.
func (s *forStmt) stepped(r *run, l *loop, over Value) (signal, error) {
	p := progress{}
	for {
		v, ok, err := l.step()
		if err != nil {
			return done, at(s.line, err)
		}
		if !ok {
			return s.close(r, &p, nil)
		}
		if stop, err := s.next(r, over, v, Value{}, &p); stop || err != nil {
			return s.close(r, &p, err)
		}
	}
}

// progress is how far a loop has come.
type progress struct {
	rounds int  // begun
	whole  bool // whether one came to the end of the body
	broke  bool // the last was left by a break, or there is nothing more to do
}

// next runs the next round, over v. What comes then is missing where it is not
// at hand.
func (s *forStmt) next(r *run, over, v, then Value, p *progress) (stop bool, err error) {
	if err := r.spend(1 + s.weight); err != nil {
		return true, err
	}
	p.rounds++
	if s.idle != nil && (p.rounds > 1 || !s.idle.later) {
		if p.broke, err = s.ended(r, over); p.broke || err != nil {
			p.whole = true
			return true, err
		}
	}
	sig, err := s.round(r, v, then)
	p.broke = sig == broke
	p.whole = p.whole || sig == done
	return p.broke, err
}

// close ends a loop. Its else runs unless a round came to its end: so it is
// in Jinja2, where it makes no difference how a round was left.
func (s *forStmt) close(r *run, p *progress, err error) (signal, error) {
	sig := done
	if !p.whole && err == nil {
		sig, err = s.otherwise(r)
	}
	r.turns, r.broke = p.rounds, p.broke
	return sig, err
}

// listed is a loop over items at hand of which only its body knows how far it
// is.
func (s *forStmt) listed(r *run, l *loop, over Value) (signal, error) {
	p := progress{}
	for i, v := range l.vs {
		l.index = i
		if stop, err := s.next(r, over, v, after(l.vs, i), &p); stop || err != nil {
			return s.close(r, &p, err)
		}
	}
	return s.close(r, &p, nil)
}

// after is the member after number i, missing where there is none.
func after(vs []Value, i int) Value {
	if i+1 < len(vs) {
		return vs[i+1]
	}
	return Value{}
}

// room makes room for the records of so many rounds, where it is the first
// time and all of them are likely to be run.
func (s *forStmt) room(r *run, n int) {
	if r.memo != nil && s.id > 0 && s.idle == nil {
		if l := &r.memo.loops[s.id-1]; cap(l.recs) == 0 {
			l.recs = make([]record, 0, n)
		}
	}
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

// plain is a loop without a loop variable over items at hand.
func (s *forStmt) plain(r *run, vs []Value) (signal, error) {
	p := progress{}
	if n, ok := s.target.(*nameExpr); ok && s.idle == nil && (r.memo == nil || s.id == 0 && s.mute) {
		return s.bare(r, vs, n.at.slot)
	}
	for i, v := range vs {
		if stop, err := s.next(r, Value{}, v, after(vs, i), &p); stop || err != nil {
			return s.close(r, &p, err)
		}
	}
	return s.close(r, &p, nil)
}

// bare is such a loop that nobody watches.
func (s *forStmt) bare(r *run, vs []Value, slot int) (signal, error) {
	p := progress{}
	for i := range vs {
		if err := r.spend(1 + s.weight); err != nil {
			return s.close(r, &p, err)
		}
		p.rounds++
		r.fr.vars[slot] = vs[i]
		if len(s.bodyInit) > 0 {
			r.begin(s.bodyInit)
		}
		sig, err := r.exec(s.body)
		p.broke = sig == broke
		p.whole = p.whole || sig == done
		if p.broke || err != nil {
			return s.close(r, &p, err)
		}
	}
	return s.close(r, &p, nil)
}

// counted is such a loop over a range.
func (s *forStmt) counted(r *run, over *span) (signal, error) {
	p := progress{}
	for i := range over.count() {
		if stop, err := s.next(r, Value{}, over.at(i), Value{}, &p); stop || err != nil {
			return s.close(r, &p, err)
		}
	}
	return s.close(r, &p, nil)
}

// round runs the body once.
func (s *forStmt) round(r *run, v, then Value) (signal, error) {
	if r.memo != nil {
		return r.memo.round(r, s, v, then)
	}
	return s.play(r, v)
}

func (s *forStmt) play(r *run, v Value) (signal, error) {
	if n, ok := s.target.(*nameExpr); ok {
		r.fr.vars[n.at.slot] = v
	} else if err := r.assign(s.target, v); err != nil {
		return done, at(s.line, err)
	}
	if len(s.bodyInit) > 0 {
		r.begin(s.bodyInit)
	}
	return r.exec(s.body)
}

func (s *forStmt) otherwise(r *run) (signal, error) {
	if s.other == nil {
		return done, nil
	}
	r.begin(s.elseInit)
	return r.exec(s.other)
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
