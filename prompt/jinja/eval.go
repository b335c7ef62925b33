package jinja

func (x *constExpr) eval(*run) (Value, error) { return x.v, nil }

func (x *nameExpr) eval(r *run) (Value, error) {
	if x.at.context {
		return r.ctx[x.at.slot], nil
	}
	f := r.fr
	for range x.at.hops {
		f = f.up
	}
	if v := f.vars[x.at.slot]; v.kind != kMissing {
		if v.kind == kNamespace && r.old(v) {
			r.unsteady()
		}
		return v, nil
	}
	return undefinedName(x.name), nil
}

// ref is where a variable stands; it may be missing there.
func (x *nameExpr) ref(r *run) *Value {
	if x.at.context {
		return &r.ctx[x.at.slot]
	}
	f := r.fr
	for range x.at.hops {
		f = f.up
	}
	return &f.vars[x.at.slot]
}

// holder is the mapping that an expression gives if it is a variable that
// holds one, else nil: a look-up in it needs no copy of the variable.
func holder(r *run, x expr) *Map {
	n, ok := x.(*nameExpr)
	if !ok {
		return nil
	}
	if v := n.ref(r); v.kind == kMap || v.kind == kNamespace {
		if v.kind == kNamespace && r.old(*v) {
			r.unsteady()
		}
		return v.mapping()
	}
	return nil
}

// holdsMap reports a variable that holds a mapping.
func holdsMap(r *run, x expr) bool {
	n, ok := x.(*nameExpr)
	return ok && n.ref(r).kind == kMap
}

func (r *run) all(xs []expr) ([]Value, error) {
	if err := r.take(len(xs) * perItem); err != nil {
		return nil, err
	}
	vs := make([]Value, len(xs))
	for i, x := range xs {
		var err error
		if vs[i], err = x.eval(r); err != nil {
			return nil, err
		}
		r.wild = r.wild || fleeting(vs[i])
	}
	return vs, nil
}

func (x *tupleExpr) eval(r *run) (Value, error) {
	if x.all != nil {
		return x.all.v, r.take(x.all.size * perItem)
	}
	vs, err := r.all(x.items)
	return tuple(vs...), err
}

func (x *listExpr) eval(r *run) (Value, error) {
	if x.all != nil {
		return x.all.v, r.take(x.all.size * perItem)
	}
	vs, err := r.all(x.items)
	return List(vs...), err
}

func (x *dictExpr) eval(r *run) (Value, error) {
	if err := r.take(3 * len(x.keys) * perItem); err != nil {
		return Value{}, err
	}
	m := NewMap(len(x.keys))
	for i := range x.keys {
		k, err := x.keys[i].eval(r)
		if err != nil {
			return Value{}, err
		}
		v, err := x.vals[i].eval(r)
		if err != nil {
			return Value{}, err
		}
		r.wild = r.wild || fleeting(v)
		if err := m.set(k, v); err != nil {
			return Value{}, err
		}
	}
	return Mapping(m), nil
}

func (x *filterExpr) eval(r *run) (Value, error) {
	v, err := x.of.eval(r)
	if err != nil {
		return v, err
	}
	if x.length && (v.kind == kList || v.kind == kTuple) {
		return Int(v.n), nil
	}
	v, err = x.apply(r, v)
	return v, at(x.line, err)
}

func (x *filterExpr) apply(r *run, v Value) (Value, error) {
	if x.lenient {
		return v, raise("TemplateRuntimeError", "No filter named %s found.", quote(x.name))
	}
	from := len(r.args)
	a, err := r.push(&x.args)
	if err == nil {
		v, err = x.fn(r, v, a)
	}
	r.pop(a, from)
	return v, err
}

func (x *testExpr) eval(r *run) (Value, error) {
	ok, err := x.test(r)
	return Bool(ok), err
}

func (x *testExpr) test(r *run) (bool, error) {
	v, err := x.of.eval(r)
	if err != nil {
		return false, err
	}
	if x.lenient {
		return false, at(x.line, raise("TemplateRuntimeError", "No test named %s found.", quote(x.name)))
	}
	from := len(r.args)
	a, err := r.push(&x.args)
	ok := false
	if err == nil {
		ok, err = x.fn(r, v, a)
	}
	r.pop(a, from)
	return ok, at(x.line, err)
}
