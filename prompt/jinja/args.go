package jinja

// args are the values a call was made with. They are valid during the call
// only.
type args struct {
	pos   []Value
	names []string
	kw    []Value
	taken int // how many of the named ones were asked for
	over  bool
	// shared is set where they belong to all calls: they have no names, so that
	// looking into them changes nothing.
	shared bool
}

// noArgs are those of a call without any.
var noArgs = &args{shared: true}

// push evaluates the arguments of a call onto the stack of arguments; the
// caller takes them off again with pop.
func (r *run) push(l *argList) (*args, error) {
	if len(l.pos)+len(l.kw) == 0 && l.star == nil && l.starNames == nil {
		return noArgs, nil
	}
	if l.all != nil {
		return l.all, nil
	}
	if n := len(r.spare); n > 0 {
		a := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return a, r.fill(a, l)
	}
	a := &args{}
	return a, r.fill(a, l)
}

// pop takes the arguments of a call off again, down to where they began.
func (r *run) pop(a *args, from int) {
	r.args = r.args[:from]
	if a != nil && !a.shared {
		a.taken, a.over = 0, false // the rest is set when it is used again
		r.spare = append(r.spare, a)
	}
}

func (r *run) fill(a *args, l *argList) error {
	from := len(r.args)
	for _, x := range l.pos {
		v, err := x.eval(r)
		if err != nil {
			return err
		}
		r.args = append(r.args, v)
	}
	if l.star != nil {
		if err := r.pushStar(l.star); err != nil {
			return err
		}
	}
	named := len(r.args)
	for _, x := range l.kw {
		v, err := x.eval(r)
		if err != nil {
			return err
		}
		r.args = append(r.args, v)
	}
	a.names = l.names
	if l.starNames != nil {
		if err := r.pushNames(l.starNames, a); err != nil {
			return err
		}
	}
	a.pos = r.args[from:named:named]
	a.kw = r.args[named:len(r.args):len(r.args)]
	return nil
}

func (r *run) pushStar(x expr) error {
	v, err := x.eval(r)
	if err != nil {
		return err
	}
	vs, err := r.list(v)
	if err == nil {
		err = r.take(len(vs) * perItem)
	}
	r.args = append(r.args, vs...)
	return err
}

func (r *run) pushNames(x expr, a *args) error {
	v, err := x.eval(r)
	if err != nil {
		return err
	}
	if v.kind != kMap {
		return typeError("argument after ** must be a mapping, not %s", typeName(v))
	}
	m := v.mapping()
	if err := r.take(m.Len() * perItem); err != nil {
		return err
	}
	a.names = append([]string(nil), a.names...)
	for i, k := range m.keys {
		if k.kind != kString {
			return typeError("keywords must be strings")
		}
		for _, name := range a.names {
			if name == k.str() {
				return typeError("got multiple values for keyword argument %s", quote(k.str()))
			}
		}
		if err := r.spend(len(a.names)); err != nil {
			return err
		}
		a.names = append(a.names, k.str())
		r.args = append(r.args, m.vals[i])
	}
	return nil
}

// find is the argument at a place or under a name.
func (a *args) find(i int, name string) (Value, bool) {
	for n := range a.names {
		if a.names[n] == name {
			a.taken++
			if i >= 0 && i < len(a.pos) {
				a.over = true
			}
			return a.kw[n], true
		}
	}
	if i >= 0 && i < len(a.pos) {
		return a.pos[i], true
	}
	return Value{}, false
}

// opt is an argument that may be left out.
func (a *args) opt(i int, name string, or Value) Value {
	if v, ok := a.find(i, name); ok {
		return v
	}
	return or
}

// done checks, after every find, that there was nothing else.
func (a *args) done(fn string, most int) error {
	switch {
	case len(a.pos) > most:
		return typeError("%s() takes at most %d arguments (%d given)", fn, most, len(a.pos))
	case a.over:
		return typeError("%s() got multiple values for an argument", fn)
	case a.taken < len(a.names):
		return typeError("%s() got an unexpected keyword argument", fn)
	}
	return nil
}

// plain checks for a call by place only, with at least and at most so many.
func (a *args) plain(fn string, least, most int) error {
	switch {
	case len(a.names) > 0:
		return typeError("%s() takes no keyword arguments", fn)
	case len(a.pos) < least:
		return typeError("%s expected at least %d argument, got %d", fn, least, len(a.pos))
	case len(a.pos) > most:
		return typeError("%s expected at most %d arguments, got %d", fn, most, len(a.pos))
	}
	return nil
}
