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

func (x *notExpr) eval(r *run) (Value, error) {
	ok, err := x.test(r)
	return Bool(ok), err
}

func (x *notExpr) test(r *run) (bool, error) {
	ok, err := x.x.test(r)
	return !ok, err
}

func (x *andExpr) test(r *run) (bool, error) {
	if ok, err := x.a.test(r); !ok || err != nil {
		return false, err
	}
	return x.b.test(r)
}

func (x *orExpr) test(r *run) (bool, error) {
	if ok, err := x.a.test(r); ok || err != nil {
		return ok, err
	}
	return x.b.test(r)
}

func (x *andExpr) eval(r *run) (Value, error) {
	v, err := x.a.eval(r)
	if err != nil {
		return v, err
	}
	if !truth(v) {
		return v, nil
	}
	return x.b.eval(r)
}

func (x *orExpr) eval(r *run) (Value, error) {
	v, err := x.a.eval(r)
	if err != nil {
		return v, err
	}
	if truth(v) {
		return v, nil
	}
	return x.b.eval(r)
}

func (x *condExpr) eval(r *run) (Value, error) {
	ok, err := x.cond.test(r)
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

func (x *compareExpr) eval(r *run) (Value, error) {
	ok, err := x.test(r)
	return Bool(ok), err
}

// pointer is where the value of a variable, or of a key of a mapping in one,
// stands; nil where it takes more to know it.
func pointer(r *run, x expr) *Value {
	switch x := x.(type) {
	case *nameExpr:
		return x.ref(r)
	case *watchExpr:
		if r.rec == nil {
			return pointer(r, x.x)
		}
	case *watchCell:
		if r.rec == nil {
			return pointer(r, x.x)
		}
	case *attrExpr:
		if m := holder(r, x.of); m != nil && x.key {
			return m.peek(x.name)
		}
	case *itemExpr:
		if x.plain {
			if m := holder(r, x.of); m != nil {
				return m.peek(x.name)
			}
		}
	}
	return nil
}

func (x *compareExpr) test(r *run) (bool, error) {
	if x.quick != nil {
		if v := pointer(r, x.first); v != nil && v.kind == kString {
			return v.is(*x.quick) == x.equal, nil
		}
	}
	a, err := x.first.eval(r)
	if err != nil {
		return false, err
	}
	for i, op := range x.ops {
		var b Value
		if c, ok := x.rest[i].(*constExpr); ok {
			b = c.v
		} else if b, err = x.rest[i].eval(r); err != nil {
			return false, err
		}
		if a.kind == kString && b.kind == kString && op == "==" && len(a.str()) < 1<<12 {
			if a.str() != b.str() {
				return false, nil
			}
		} else if ok, err := r.compare(op, a, b); !ok || err != nil {
			return false, at(x.line, err)
		}
		a = b
	}
	return true, nil
}

func (r *run) compare(op string, a, b Value) (bool, error) {
	if a.kind == kInt && b.kind == kInt && (op[0] == '<' || op[0] == '>') {
		return ordered(sign(a.n, b.n), op), nil
	}
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

func newAttr(of expr, name token) *attrExpr {
	return &attrExpr{of, name.text, name.line, onlyKey(name.text), loopNumbers[name.text], stringMethods[name.text], mapMethods[name.text]}
}

func newItem(of, key expr, line int) *itemExpr {
	x := &itemExpr{of: of, key: key, line: line}
	if c, ok := key.(*constExpr); ok && c.v.kind == kString {
		x.name = c.v.str()
		x.plain = onlyKey(x.name)
	}
	return x
}

// onlyKey reports a name that a mapping has no attribute of.
func onlyKey(name string) bool {
	_, method := mapMethods[name]
	return !method && !hidden(Mapping(nil), name)
}

// method is the method that a value has under the name, nil if there is none.
func (x *attrExpr) method(of Value) method {
	switch of.kind {
	case kString:
		return x.onText
	case kMap:
		return x.onMap
	}
	return methodOf(of, x.name)
}

func (x *attrExpr) eval(r *run) (Value, error) {
	if x.key {
		if m := holder(r, x.of); m != nil {
			if v := m.peek(x.name); v != nil {
				return *v, nil
			}
			if holdsMap(r, x.of) {
				return undefinedKey(x.name), nil
			}
		} else if x.number != noNumber {
			if l := loopOf(r, x.of); l != nil {
				return l.quick(x.number), nil
			}
		}
	}
	of, err := x.of.eval(r)
	if err != nil {
		return of, err
	}
	if of.kind == kMap && x.key {
		if v := of.mapping().peek(x.name); v != nil {
			return *v, nil
		}
		return undefinedKey(x.name), nil
	}
	v, err := r.attr(of, x.name)
	return v, at(x.line, err)
}

func (x *attrExpr) test(r *run) (bool, error) {
	if x.key {
		if m := holder(r, x.of); m != nil {
			if v := m.peek(x.name); v == nil {
				return false, nil
			} else if v.kind != kUndefined {
				return truth(*v), nil
			}
		} else if x.number != noNumber {
			if l := loopOf(r, x.of); l != nil {
				return l.quick(x.number).n != 0, nil
			}
		}
	}
	of, err := x.of.eval(r)
	if err != nil {
		return false, err
	}
	if x.key && (of.kind == kMap || of.kind == kNamespace) {
		v := of.mapping().peek(x.name)
		if v == nil {
			return false, nil
		}
		if v.kind != kUndefined {
			return truth(*v), nil
		}
	}
	v, err := r.attr(of, x.name)
	if err != nil {
		return false, at(x.line, err)
	}
	return truth(v), nil
}

func (x *itemExpr) eval(r *run) (Value, error) {
	if x.plain {
		if m := holder(r, x.of); m != nil {
			if v := m.peek(x.name); v != nil {
				return *v, nil
			}
			if holdsMap(r, x.of) {
				return undefinedKey(x.name), nil
			}
		}
	}
	of, err := x.of.eval(r)
	if err != nil {
		return of, err
	}
	var k Value
	if c, ok := x.key.(*constExpr); ok {
		k = c.v
		if of.kind == kMap && x.plain {
			if v := of.mapping().peek(x.name); v != nil {
				return *v, nil
			}
			return undefinedKey(x.name), nil
		}
	} else if k, err = x.key.eval(r); err != nil {
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
