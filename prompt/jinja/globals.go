package jinja

// mostRange is how long a range may be, the sandbox's own limit.
const mostRange = 100_000

var globals map[string]Value

func init() {
	globals = map[string]Value{
		"range": native("range", globalRange), "namespace": native("namespace", globalNamespace), "dict": native("dict", globalDict),
		"raise_exception": native("raise_exception", globalRaise), "strftime_now": native("strftime_now", globalNow),
		"joiner": native("joiner", globalJoiner), "cycler": native("cycler", globalCycler),
	}
}

// global is what templates have without their context.
func (r *run) global(name string) (Value, bool) {
	v, ok := globals[name]
	return v, ok
}

func globalRange(r *run, a *args) (Value, error) {
	if err := a.plain("range", 1, 3); err != nil {
		return Value{}, err
	}
	n := [3]int{0, 0, 1}
	for i, v := range a.pos {
		var err error
		if n[i], err = r.size(v); err != nil {
			return Value{}, err
		}
	}
	if len(a.pos) == 1 {
		n[0], n[1] = 0, n[0]
	}
	if n[2] == 0 {
		return Value{}, valueError("range() arg 3 must not be zero")
	}
	s := &span{int64(n[0]), int64(n[1]), int64(n[2])}
	if s.count() > mostRange {
		return Value{}, raise("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", mostRange)
	}
	return boxed(kRange, s), nil
}

// entries is what dict() makes of its arguments.
func entries(r *run, a *args) (*Map, error) {
	if len(a.pos) > 1 {
		return nil, typeError("dict expected at most 1 argument, got %d", len(a.pos))
	}
	m := NewMap(len(a.names))
	if len(a.pos) == 1 {
		if v := a.pos[0]; v.kind == kMap {
			if err := r.take(3 * perItem * v.mapping().Len()); err != nil {
				return nil, err
			}
			m = v.mapping().clone()
		} else if err := pairs(r, m, v); err != nil {
			return nil, err
		}
	}
	if err := r.take(3 * perItem * len(a.names)); err != nil {
		return nil, err
	}
	for i, name := range a.names {
		r.wild = r.wild || fleeting(a.kw[i])
		m.Set(name, a.kw[i])
	}
	return m, nil
}

func pairs(r *run, m *Map, v Value) error {
	vs, err := r.list(v)
	if err != nil {
		return err
	}
	if err := r.take(3 * perItem * len(vs)); err != nil {
		return err
	}
	for i, x := range vs {
		pair, err := r.list(x)
		if err != nil {
			return typeError("cannot convert dictionary update sequence element #%d to a sequence", i)
		}
		if len(pair) != 2 {
			return valueError("dictionary update sequence element #%d has length %d; 2 is required", i, len(pair))
		}
		if err := m.set(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func globalNamespace(r *run, a *args) (Value, error) {
	m, err := entries(r, a)
	r.born++
	v := boxed(kNamespace, m)
	v.n = r.born
	return v, err
}

func globalDict(r *run, a *args) (Value, error) {
	m, err := entries(r, a)
	return Mapping(m), err
}

func globalRaise(r *run, a *args) (Value, error) {
	msg, ok := a.find(0, "message")
	if !ok {
		return Value{}, typeError("raise_exception() missing 1 required positional argument: 'message'")
	}
	if err := a.done("raise_exception", 1); err != nil {
		return Value{}, err
	}
	s, err := r.text(msg)
	if err != nil {
		return Value{}, err
	}
	return Value{}, &Error{Kind: "TemplateError", Msg: s}
}

func globalNow(r *run, a *args) (Value, error) {
	f, ok := a.find(0, "format")
	if !ok || f.kind != kString {
		return Value{}, typeError("strftime() argument 1 must be str, not %s", typeName(f))
	}
	if err := r.take(32 * len(f.str())); err != nil {
		return Value{}, err
	}
	r.unsteady()
	return String(strftime(r.o.Now(), f.str())), a.done("strftime_now", 1)
}

// globalJoiner makes a thing that is empty the first time it is called and
// its separator ever after.
func globalJoiner(r *run, a *args) (Value, error) {
	sep := a.opt(0, "sep", String(", "))
	if err := a.done("joiner", 1); err != nil {
		return Value{}, err
	}
	used := false
	return native("joiner", func(*run, *args) (Value, error) {
		if used {
			return sep, nil
		}
		used = true
		return String(""), nil
	}), r.take(4 * perItem)
}

// globalCycler goes round through its arguments.
func globalCycler(r *run, a *args) (Value, error) {
	if len(a.pos) == 0 {
		return Value{}, typeError("at least one item has to be provided")
	}
	items, at := a.kept().pos, 0
	next := native("next", func(*run, *args) (Value, error) {
		v := items[at]
		at = (at + 1) % len(items)
		return v, nil
	})
	reset := native("reset", func(*run, *args) (Value, error) {
		at = 0
		return none, nil
	})
	return boxed(kFunc, &function{name: "cycler", class: "Cycler", members: func(name string) (Value, bool) {
		switch name {
		case "next":
			return next, true
		case "reset":
			return reset, true
		case "current":
			return items[at], true
		}
		return Value{}, false
	}}), r.take((4 + len(items)) * perItem)
}
