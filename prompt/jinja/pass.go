package jinja

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
	var sig signal
	if s.late != nil && p.rounds > 1 && s.unwatched(r) {
		sig, err = s.glance(r, v)
	} else {
		sig, err = s.round(r, v, then)
	}
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
	if n, ok := s.target.(*nameExpr); ok && s.idle == nil && s.unwatched(r) {
		return s.bare(r, l.vs, n.at.slot, l)
	}
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

// plain is a loop without a loop variable over items at hand.
func (s *forStmt) plain(r *run, vs []Value) (signal, error) {
	p := progress{}
	if n, ok := s.target.(*nameExpr); ok && s.idle == nil && s.unwatched(r) {
		return s.bare(r, vs, n.at.slot, nil)
	}
	for i, v := range vs {
		if stop, err := s.next(r, Value{}, v, after(vs, i), &p); stop || err != nil {
			return s.close(r, &p, err)
		}
	}
	return s.close(r, &p, nil)
}

// bare is a loop over items at hand that nobody watches, with or without a
// loop variable.
func (s *forStmt) bare(r *run, vs []Value, slot int, l *loop) (signal, error) {
	p := progress{}
	for i := range vs {
		if l != nil {
			l.index = i
		}
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
	if !s.unwatched(r) {
		return r.memo.round(r, s, v, then)
	}
	return s.play(r, v)
}

// unwatched reports a loop whose rounds are just run: where none of them
// writes it makes no difference to a Memo, unless it is to reuse them.
func (s *forStmt) unwatched(r *run) bool { return r.memo == nil || s.mute && s.id == 0 }

// glance is play where what is set first is of use in one branch only.
func (s *forStmt) glance(r *run, v Value) (signal, error) {
	if err := r.assign(s.target, v); err != nil {
		return done, at(s.line, err)
	}
	r.begin(s.bodyInit)
	if ok, err := s.late.test.test(r); !ok || err != nil {
		return done, err
	}
	if sig, err := r.exec(s.body[:len(s.body)-1]); sig != done || err != nil {
		return sig, err
	}
	return r.exec(s.late.then)
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
