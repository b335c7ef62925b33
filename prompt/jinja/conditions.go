package jinja

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
