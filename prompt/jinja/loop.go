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
