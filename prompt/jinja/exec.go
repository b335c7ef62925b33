package jinja

func (r *run) exec(body []stmt) (signal, error) {
	for _, s := range body {
		if sig, err := s.exec(r); sig != done || err != nil {
			return sig, err
		}
	}
	return done, nil
}

func (s *dataStmt) exec(r *run) (signal, error) {
	r.put(s.text)
	return done, r.wrote()
}

// printer is an expression that writes what it gives as it comes.
type printer interface{ print(r *run) error }

// findPrinters tells statements that print which of their expressions do.
func findPrinters(body []stmt) {
	for _, st := range body {
		switch st := st.(type) {
		case *printStmt:
			st.by, _ = st.x.(printer)
		case *macroStmt:
			findPrinters(st.body)
		case *callBlock:
			findPrinters(st.call.caller.body)
		}
		for _, b := range bodies(st) {
			findPrinters(b)
		}
	}
}

func (s *printStmt) exec(r *run) (signal, error) {
	if s.by != nil {
		if err := s.by.print(r); err != nil {
			return done, at(s.line, err)
		}
		return done, r.wrote()
	}
	v, err := s.x.eval(r)
	if err != nil {
		return done, at(s.line, err)
	}
	if v.kind == kString {
		r.put(v.str())
		return done, r.wrote()
	}
	if err := r.print(v); err != nil {
		return done, at(s.line, err)
	}
	return done, r.wrote()
}

func (s *ifStmt) exec(r *run) (signal, error) {
	ok, err := s.test.test(r)
	if err != nil {
		return done, err
	}
	if ok {
		return r.exec(s.then)
	}
	return r.exec(s.rest)
}

func (s *setStmt) exec(r *run) (signal, error) {
	v, err := s.x.eval(r)
	if err != nil {
		return done, at(s.line, err)
	}
	if n, ok := s.target.(*nameExpr); ok && n.at.hops == 0 {
		r.fr.vars[n.at.slot] = v
		return done, nil
	}
	return done, at(s.line, r.assign(s.target, v))
}

// assign stores a value in a variable, a namespace's attribute, or in several
// of them.
func (r *run) assign(target expr, v Value) error {
	switch t := target.(type) {
	case *nameExpr:
		if v.kind == kMissing {
			v = nothing
		}
		r.fr.vars[t.at.slot] = v
	case *fieldExpr:
		ns := *t.ns.ref(r)
		if ns.kind != kNamespace {
			return raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object")
		}
		if r.rec != nil {
			r.rec.write(r, t, ns, v)
		}
		r.wild = r.wild || fleeting(v)
		if r.set(ns.mapping(), t.attr, v) {
			return r.take(2 * perItem)
		}
	case *tupleExpr:
		vs, err := r.list(v)
		if err != nil {
			return err
		}
		if len(vs) < len(t.items) {
			return valueError("not enough values to unpack (expected %d, got %d)", len(t.items), len(vs))
		}
		if len(vs) > len(t.items) {
			return valueError("too many values to unpack (expected %d)", len(t.items))
		}
		for i, item := range t.items {
			if err := r.assign(item, vs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// set sets an attribute of a namespace and reports whether it is a new one.
func (r *run) set(ns *Map, name string, v Value) bool {
	old := ns.peek(name)
	if r.memo != nil && (old == nil || *old != v) {
		r.memo.stamp++
	}
	if old == nil {
		ns.Set(name, v)
		return true
	}
	*old = v
	return false
}

// capture runs a body and returns its text in place of writing it.
func (r *run) capture(body []stmt) (string, signal, error) {
	a := r.divert()
	sig, err := r.exec(body)
	if err != nil {
		return "", sig, err
	}
	s, err := r.back(a)
	return s, sig, err
}

func (s *setBlock) exec(r *run) (signal, error) {
	r.begin(s.init)
	text, sig, err := r.capture(s.body)
	if sig != done || err != nil {
		return sig, err
	}
	v := String(text)
	if s.filter != nil {
		if v, err = r.pipe(s.filter, v); err != nil {
			return done, at(s.line, err)
		}
	}
	return done, at(s.line, r.assign(s.target, v))
}

// pipe sends a text through the filters of a block, whose innermost has
// nothing before it.
func (r *run) pipe(x expr, v Value) (Value, error) {
	f, ok := x.(*filterExpr)
	if !ok {
		return v, nil
	}
	if f.of != nil {
		var err error
		if v, err = r.pipe(f.of, v); err != nil {
			return v, err
		}
	}
	return f.apply(r, v)
}

func (s *filterBlock) exec(r *run) (signal, error) {
	r.begin(s.init)
	text, sig, err := r.capture(s.body)
	if sig != done || err != nil {
		return sig, err
	}
	v, err := r.pipe(s.filter, String(text))
	if err != nil {
		return done, at(s.line, err)
	}
	if err := r.print(v); err != nil {
		return done, at(s.line, err)
	}
	return done, r.wrote()
}

func (s *withStmt) exec(r *run) (signal, error) {
	vs, err := r.all(s.values)
	if err != nil {
		return done, at(s.line, err)
	}
	r.begin(s.init)
	for i, t := range s.targets {
		if err := r.assign(t, vs[i]); err != nil {
			return done, at(s.line, err)
		}
	}
	return r.exec(s.body)
}

func (s *scopeStmt) exec(r *run) (signal, error) {
	r.begin(s.init)
	return r.exec(s.body)
}

func (breakStmt) exec(*run) (signal, error) { return broke, nil }

func (continueStmt) exec(*run) (signal, error) { return continued, nil }
