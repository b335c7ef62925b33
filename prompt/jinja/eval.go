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
		return v, nil
	}
	return undefinedName(x.name), nil
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
	}
	return vs, nil
}

func (x *tupleExpr) eval(r *run) (Value, error) {
	vs, err := r.all(x.items)
	return tuple(vs...), err
}

func (x *listExpr) eval(r *run) (Value, error) {
	vs, err := r.all(x.items)
	return List(vs...), err
}

func (x *dictExpr) eval(r *run) (Value, error) {
	if err := r.take(3 * len(x.keys) * perItem); err != nil {
		return Value{}, err
	}
	m := &Map{}
	for i := range x.keys {
		k, err := x.keys[i].eval(r)
		if err != nil {
			return Value{}, err
		}
		v, err := x.vals[i].eval(r)
		if err != nil {
			return Value{}, err
		}
		if err := m.set(k, v); err != nil {
			return Value{}, err
		}
	}
	return Mapping(m), nil
}

func (x *notExpr) eval(r *run) (Value, error) {
	v, err := r.test(x.x)
	return Bool(!v), err
}

func (x *andExpr) eval(r *run) (Value, error) {
	v, err := x.a.eval(r)
	if err != nil {
		return v, err
	}
	if ok, err := r.truth(v); !ok || err != nil {
		return v, err
	}
	return x.b.eval(r)
}

func (x *orExpr) eval(r *run) (Value, error) {
	v, err := x.a.eval(r)
	if err != nil {
		return v, err
	}
	if ok, err := r.truth(v); ok || err != nil {
		return v, err
	}
	return x.b.eval(r)
}

func (x *condExpr) eval(r *run) (Value, error) {
	ok, err := r.test(x.test)
	switch {
	case err != nil:
		return Value{}, err
	case ok:
		return x.then.eval(r)
	case x.other != nil:
		return x.other.eval(r)
	}
	return undefinedHint("the inline if-expression evaluated to false and no else section was defined."), nil
}

// test is the truth of an expression.
func (r *run) test(x expr) (bool, error) {
	v, err := x.eval(r)
	if err != nil {
		return false, err
	}
	return r.truth(v)
}

// truth is Python's bool(): that of a forbidden attribute raises.
func (r *run) truth(v Value) (bool, error) {
	if v.kind == kUndefined && v.safe {
		return false, v.fault()
	}
	return truth(v), nil
}

func (x *concatExpr) eval(r *run) (Value, error) {
	n := 0
	from := len(r.args)
	defer func() { r.args = r.args[:from] }()
	for _, part := range x.parts {
		v, err := part.eval(r)
		if err != nil {
			return Value{}, err
		}
		if v.kind != kString {
			s, err := r.text(v)
			if err != nil {
				return Value{}, err
			}
			v = String(s)
		}
		n += len(v.s)
		r.args = append(r.args, v)
	}
	if err := r.take(n); err != nil {
		return Value{}, err
	}
	b := make([]byte, 0, n)
	for _, v := range r.args[from:] {
		b = append(b, v.s...)
	}
	return String(string(b)), nil
}

func (x *compareExpr) eval(r *run) (Value, error) {
	a, err := x.first.eval(r)
	if err != nil {
		return a, err
	}
	for i, op := range x.ops {
		b, err := x.rest[i].eval(r)
		if err != nil {
			return b, err
		}
		ok, err := r.compare(op, a, b)
		if !ok || err != nil {
			return no, at(x.line, err)
		}
		a = b
	}
	return yes, nil
}

func (r *run) compare(op string, a, b Value) (bool, error) {
	switch op {
	case "==":
		return r.equal(a, b, 0)
	case "!=":
		same, err := r.equal(a, b, 0)
		return !same, err
	case "in":
		return r.contains(b, a)
	case "not in":
		in, err := r.contains(b, a)
		return !in, err
	}
	return r.less(a, b, op, 0)
}

func (x *attrExpr) eval(r *run) (Value, error) {
	of, err := x.of.eval(r)
	if err != nil {
		return of, err
	}
	v, err := r.attr(of, x.name)
	return v, at(x.line, err)
}

func (x *itemExpr) eval(r *run) (Value, error) {
	of, err := x.of.eval(r)
	if err != nil {
		return of, err
	}
	k, err := x.key.eval(r)
	if err != nil {
		return k, err
	}
	v, err := r.item(of, k)
	return v, at(x.line, err)
}

func (x *filterExpr) eval(r *run) (Value, error) {
	v, err := x.of.eval(r)
	if err != nil {
		return v, err
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
		v, err = x.fn(r, v, &a)
	}
	r.args = r.args[:from]
	return v, err
}

func (x *testExpr) eval(r *run) (Value, error) {
	v, err := x.of.eval(r)
	if err != nil {
		return v, err
	}
	if x.lenient {
		return v, at(x.line, raise("TemplateRuntimeError", "No test named %s found.", quote(x.name)))
	}
	from := len(r.args)
	a, err := r.push(&x.args)
	ok := false
	if err == nil {
		ok, err = x.fn(r, v, &a)
	}
	r.args = r.args[:from]
	return Bool(ok), at(x.line, err)
}

func (x *fieldExpr) eval(r *run) (Value, error) { return x.ns.eval(r) }

func (x *loopTest) eval(r *run) (Value, error) { return x.cond.eval(r) }
