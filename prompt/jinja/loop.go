package jinja

// loop is the variable of that name inside of a loop.
type loop struct {
	vs     []Value   // the items where they are at hand, or
	it     *iterator // what gives them
	cur    Value     // with it: the item of this round
	prev   Value     // with it: the one before, missing in the first round
	ahead  Value     // the next item once it was looked at
	peeked bool
	ended  bool
	index  int // from 0
	depth  int
	total  int // -1 until it is known
	seen   []Value
	again  *forStmt // of a recursive loop
	at     *frame   // the frame around a recursive loop
}

// peek looks at the next item.
func (l *loop) peek() (Value, bool, error) {
	if l.it == nil {
		if l.index+1 < len(l.vs) {
			return l.vs[l.index+1], true, nil
		}
		return Value{}, false, nil
	}
	if l.peeked || l.ended {
		return l.ahead, l.peeked, nil
	}
	v, ok, err := l.it.next()
	if err != nil {
		return Value{}, false, err
	}
	l.ahead, l.peeked, l.ended = v, ok, !ok
	return v, ok, nil
}

// step goes on to the next item.
func (l *loop) step() (Value, bool, error) {
	v, ok, err := l.peek()
	l.peeked = false
	if ok {
		l.index++
		if l.it != nil {
			l.prev, l.cur = l.cur, v
		}
	}
	return v, ok, err
}

// rest is what is left of the loop, as an iterator.
func (l *loop) rest() *iterator {
	return &iterator{"LoopContext", l.step}
}

// size is the number of rounds. Where the items come from a generator they
// are all taken now.
func (l *loop) size() (int, error) {
	if l.total >= 0 {
		return l.total, nil
	}
	var vs []Value
	for {
		v, ok, err := l.peek()
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		l.peeked = false
		vs = append(vs, v)
	}
	l.it, l.ended = each(vs), false
	l.total = l.index + 1 + len(vs)
	return l.total, nil
}

// attr is a member of the loop variable.
func (l *loop) attr(r *run, name string) (Value, bool, error) {
	switch name {
	case "index":
		return Int(int64(l.index + 1)), true, nil
	case "index0":
		return Int(int64(l.index)), true, nil
	case "first":
		return Bool(l.index == 0), true, nil
	case "depth":
		return Int(int64(l.depth + 1)), true, nil
	case "depth0":
		return Int(int64(l.depth)), true, nil
	case "previtem":
		if l.it == nil && l.index > 0 {
			return l.vs[l.index-1], true, nil
		}
		if l.prev.kind == kMissing {
			return undefinedHint("there is no previous item"), true, nil
		}
		return l.prev, true, nil
	case "nextitem":
		v, ok, err := l.peek()
		if !ok {
			v = undefinedHint("there is no next item")
		}
		return v, true, err
	case "last":
		if l.it == nil {
			return Bool(l.index+1 >= len(l.vs)), true, nil
		}
		_, ok, err := l.peek()
		return Bool(!ok), true, err
	case "length", "revindex", "revindex0":
		n, err := l.sized(r)
		switch name {
		case "revindex":
			n -= l.index
		case "revindex0":
			n -= l.index + 1
		}
		return Int(int64(n)), true, err
	case "cycle":
		return native("cycle", l.cycle), true, nil
	case "changed":
		return native("changed", l.changed), true, nil
	}
	return Value{}, false, nil
}

func (l *loop) sized(r *run) (int, error) {
	known := l.total >= 0
	n, err := l.size()
	if err == nil && !known {
		if err = r.take(n * perItem); err == nil {
			err = r.spend(n)
		}
	}
	return n, err
}

func (l *loop) cycle(_ *run, a *args) (Value, error) {
	if len(a.pos) == 0 {
		return Value{}, typeError("no items for cycling given")
	}
	return a.pos[l.index%len(a.pos)], nil
}

func (l *loop) changed(r *run, a *args) (Value, error) {
	same := false
	if l.seen != nil {
		var err error
		if same, err = r.equalItems(l.seen, a.pos, 0); err != nil {
			return Value{}, err
		}
	}
	l.seen = append([]Value{}, a.pos...)
	return Bool(!same), r.take(len(a.pos) * perItem)
}

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
	rec.note(r, (*watchLoop)(s.over), s.over.bare, Bool(!broke), took)
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
	if s.idle != nil {
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

// source tells a loop where its items come from.
func (s *forStmt) source(r *run, l *loop, v Value) error {
	if s.test == nil && (v.kind == kList || v.kind == kTuple || v.kind == kMap) {
		l.vs, _ = r.list(v)
		l.total = len(l.vs)
		return nil
	}
	var err error
	if l.it, err = r.iterate(v); err != nil {
		return err
	}
	if s.test != nil {
		l.it = s.filtered(r, l.it)
	} else if n, err := length(v); err == nil && v.kind != kLoop {
		l.total = n
	}
	return nil
}

// plain is a loop without a loop variable over items at hand.
func (s *forStmt) plain(r *run, vs []Value) (signal, error) {
	p := progress{}
	for i, v := range vs {
		if stop, err := s.next(r, Value{}, v, after(vs, i), &p); stop || err != nil {
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
