package jinja

// binder gives every name of a tree its place, finds filters and tests, and
// weighs loops and macros.
type binder struct {
	names contextNames
	nodes int
	depth int
	// soft is set in the branches of an if, where a filter that does not exist
	// is an error only once it runs.
	soft   bool
	inLoop bool
	exact  bool // the test sameas is used with more than a constant
}

func tooHigh(line int) error {
	return syntax(line, "nested deeper than %d", highest)
}

// body binds statements whose names are analysed in s.
func (b *binder) body(s *scope, body []stmt) error {
	if b.depth++; b.depth > highest {
		return tooHigh(0)
	}
	defer func() { b.depth-- }()
	for _, st := range body {
		b.nodes++
		if err := b.stmt(s, st); err != nil {
			return err
		}
	}
	return nil
}

func (b *binder) stmt(s *scope, st stmt) error {
	switch st := st.(type) {
	case *printStmt:
		return at(st.line, b.expr(s, st.x))
	case *ifStmt:
		return b.ifStmt(s, st)
	case *forStmt:
		return at(st.line, b.forStmt(s, st))
	case *setStmt:
		return at(st.line, b.exprs(s, st.x, st.target))
	case *setBlock:
		return at(st.line, b.setBlock(s, st))
	case *macroStmt:
		if err := b.expr(s, st.target); err != nil {
			return err
		}
		return at(st.line, b.macro(s, st))
	case *callBlock:
		return at(st.line, b.expr(s, st.call))
	case *filterBlock:
		inner := newScope(s, s.fn)
		inner.visit(st.body)
		inner.visitExpr(st.filter)
		return at(st.line, b.block(inner, st.body, &st.init, func() error { return b.expr(inner, st.filter) }))
	case *withStmt:
		return at(st.line, b.withStmt(s, st))
	case *scopeStmt:
		inner := newScope(s, s.fn)
		inner.visit(st.body)
		return b.block(inner, st.body, &st.init, func() error { return nil })
	case breakStmt, continueStmt:
		if !b.inLoop {
			return raise("TemplateSyntaxError", "break or continue outside of a loop")
		}
	}
	return nil
}

func (b *binder) setBlock(s *scope, st *setBlock) error {
	inner := newScope(s, s.fn)
	inner.visit(st.body)
	if st.filter != nil {
		inner.visitExpr(st.filter)
	}
	return b.block(inner, st.body, &st.init, func() error {
		if st.filter != nil {
			if err := b.expr(inner, st.filter); err != nil {
				return err
			}
		}
		return b.expr(s, st.target)
	})
}

func (b *binder) withStmt(s *scope, st *withStmt) error {
	inner := newScope(s, s.fn)
	for _, t := range st.targets {
		inner.visitParams(t)
	}
	inner.visit(st.body)
	return b.block(inner, st.body, &st.init, func() error {
		if err := b.exprs(s, st.values...); err != nil {
			return err
		}
		return b.exprs(inner, st.targets...)
	})
}

// block binds a body with a scope of its own.
func (b *binder) block(inner *scope, body []stmt, init *[]initial, more func() error) error {
	soft := b.soft
	b.soft = false
	err := b.body(inner, body)
	b.soft = soft
	if err != nil {
		return err
	}
	if err := more(); err != nil {
		return err
	}
	*init = inner.initials(&b.names)
	return nil
}

func (b *binder) ifStmt(s *scope, st *ifStmt) error {
	soft := b.soft
	b.soft = true
	defer func() { b.soft = soft }()
	if err := b.expr(s, st.test); err != nil {
		return err
	}
	if err := b.body(s, st.then); err != nil {
		return err
	}
	return b.body(s, st.rest)
}

func (b *binder) forStmt(s *scope, st *forStmt) error {
	if err := b.expr(s, st.iter); err != nil {
		return err
	}
	fn := s.fn
	if st.recursive {
		fn = &layout{up: s.fn, holds: true}
		st.fn = fn
		s.fn.holds = true
	}
	body, other, test := newScope(s, fn), newScope(s, fn), newScope(s, fn)
	before, loops := b.nodes, b.inLoop
	st.slots[0] = fn.slots
	st.loopVar = &nameExpr{name: "loop"}
	loopSlot := body.param("loop")
	body.visitParams(st.target)
	body.visit(st.body)
	b.inLoop = true
	err := b.block(body, st.body, &st.bodyInit, func() error { return b.expr(body, st.target) })
	b.inLoop = loops
	if err != nil {
		return err
	}
	st.slots[1] = fn.slots
	st.loopVar.at = place{slot: loopSlot}
	if !body.vars.used[loopSlot] {
		st.loopVar = nil
	}
	st.brief = !st.recursive && st.test == nil && (st.loopVar == nil || asksOnly(st.body, loopSlot, fixed))
	other.visit(st.other)
	if err := b.block(other, st.other, &st.elseInit, func() error { return nil }); err != nil {
		return err
	}
	if st.test != nil {
		// The test runs before the body, in places of its own.
		test.visitParams(st.target)
		test.visitExpr(st.test)
		t, err := b.copyTarget(test, st.target)
		if err != nil {
			return err
		}
		if err := b.expr(test, st.test); err != nil {
			return err
		}
		st.test = &loopTest{t, st.test}
		st.testInit = test.initials(&b.names)
	}
	st.weight = b.nodes - before
	return nil
}

// loopTest is the condition of a filtered loop with the targets it reads.
type loopTest struct {
	target expr
	cond   expr
}

func (b *binder) copyTarget(s *scope, x expr) (expr, error) {
	switch x := x.(type) {
	case *nameExpr:
		c := &nameExpr{name: x.name}
		return c, b.expr(s, c)
	case *tupleExpr:
		c := &tupleExpr{}
		for _, item := range x.items {
			t, err := b.copyTarget(s, item)
			if err != nil {
				return nil, err
			}
			c.items = append(c.items, t)
		}
		return c, nil
	}
	return nil, tooHigh(0)
}

func (b *binder) macro(s *scope, m *macroStmt) error {
	m.fn = &layout{up: s.fn}
	m.alone.decl = m
	s.fn.holds = true
	inner := newScope(s, m.fn)
	for _, p := range m.params {
		inner.param(p.name)
	}
	special := map[string]**nameExpr{"kwargs": &m.kwargs, "varargs": &m.varargs, "caller": &m.caller}
	slots := map[string]int{}
	for _, name := range []string{"caller", "kwargs", "varargs"} {
		if _, ok := inner.refs[name]; !ok {
			slots[name] = inner.param(name)
		}
	}
	for _, x := range m.defaults {
		inner.visitExpr(x)
	}
	inner.visit(m.body)
	before, loops := b.nodes, b.inLoop
	b.inLoop = false
	err := b.block(inner, m.body, &m.init, func() error {
		for _, p := range m.params {
			p.at = place{slot: inner.refs[p.name]}
		}
		return b.exprs(inner, m.defaults...)
	})
	b.inLoop = loops
	for name, slot := range slots {
		if inner.vars.used[slot] || mentions(m.body, name) {
			*special[name] = &nameExpr{name: name, at: place{slot: slot}}
		}
	}
	m.weight = b.nodes - before
	return err
}

func (b *binder) exprs(s *scope, xs ...expr) error {
	for _, x := range xs {
		if err := b.expr(s, x); err != nil {
			return err
		}
	}
	return nil
}

func (b *binder) expr(s *scope, x expr) error {
	b.nodes++
	if b.depth++; b.depth > highest {
		return tooHigh(0)
	}
	defer func() { b.depth-- }()
	switch x := x.(type) {
	case *nameExpr:
		x.at = s.find(x.name, &b.names)
	case *callExpr:
		if x.caller != nil {
			if err := b.macro(s, x.caller); err != nil {
				return err
			}
		}
	case *filterExpr:
		if x.fn = filters[x.name]; x.fn == nil {
			if !b.soft {
				return at(x.line, raise("TemplateAssertionError", "No filter named %s.", quote(x.name)))
			}
			x.lenient = true
		}
		x.length = x.name == "length" && len(x.args.pos)+len(x.args.kw) == 0 && x.args.star == nil && x.args.starNames == nil
	case *testExpr:
		if x.fn = tests[x.name]; x.fn == nil {
			if !b.soft {
				return at(x.line, raise("TemplateAssertionError", "No test named %s.", quote(x.name)))
			}
			x.lenient = true
		}
		if x.name == "sameas" && len(x.args.pos) > 0 {
			if _, ok := x.args.pos[0].(*constExpr); !ok {
				b.exact = true
			}
		}
	case *condExpr:
		soft := b.soft
		b.soft = true
		defer func() { b.soft = soft }()
	}
	return b.exprs(s, kids(x)...)
}
