package jinja

// visit tells a scope what the statements of its own level load and store.
// Loops, macros and blocks have scopes of their own and are not entered.
func (s *scope) visit(body []stmt) {
	for _, st := range body {
		s.visitOne(st)
	}
}

func (s *scope) visitOne(st stmt) {
	switch st := st.(type) {
	case *printStmt:
		s.visitExpr(st.x)
	case *ifStmt:
		s.visitExpr(st.test)
		then, rest := s.branch(), s.branch()
		then.visit(st.then)
		rest.visit(st.rest)
		s.join(then, rest)
	case *forStmt:
		s.visitExpr(st.iter)
	case *setStmt:
		s.visitExpr(st.x)
		s.visitTarget(st.target)
	case *setBlock:
		s.visitTarget(st.target)
	case *macroStmt:
		s.store(st.name)
	case *callBlock:
		s.visitExpr(st.call)
	case *filterBlock:
		s.visitExpr(st.filter)
	case *withStmt:
		for _, x := range st.values {
			s.visitExpr(x)
		}
	}
}

func (s *scope) visitTarget(x expr) {
	switch x := x.(type) {
	case *nameExpr:
		s.store(x.name)
	case *fieldExpr:
		s.load(x.ns.name)
	case *tupleExpr:
		for _, item := range x.items {
			s.visitTarget(item)
		}
	}
}

// visitParams declares the names of a loop's or with's targets.
func (s *scope) visitParams(x expr) {
	switch x := x.(type) {
	case *nameExpr:
		s.param(x.name)
	case *tupleExpr:
		for _, item := range x.items {
			s.visitParams(item)
		}
	}
}

func (s *scope) visitExpr(x expr) {
	if n, ok := x.(*nameExpr); ok {
		s.load(n.name)
		return
	}
	for _, kid := range kids(x) {
		s.visitExpr(kid)
	}
}

// eachKid calls f for the expressions directly inside of another, which may
// be put in place of them. The name in a fieldExpr stays what it is.
func eachKid(x expr, f func(*expr)) {
	switch x := x.(type) {
	case *tupleExpr:
		all(f, x.items)
	case *listExpr:
		all(f, x.items)
	case *dictExpr:
		all(f, x.keys, x.vals)
	case *attrExpr:
		f(&x.of)
	case *itemExpr:
		f(&x.of)
		f(&x.key)
	case *sliceExpr:
		some(f, &x.of, &x.start, &x.stop, &x.step)
	case *callExpr:
		f(&x.fn)
		x.args.each(f)
	case *filterExpr:
		some(f, &x.of)
		x.args.each(f)
	case *testExpr:
		f(&x.of)
		x.args.each(f)
	case *notExpr:
		f(&x.x)
	case *andExpr:
		some(f, &x.a, &x.b)
	case *orExpr:
		some(f, &x.a, &x.b)
	case *signExpr:
		f(&x.x)
	case *binExpr:
		some(f, &x.a, &x.b)
	case *concatExpr:
		all(f, x.parts)
	case *sumExpr:
		all(f, x.parts)
	case *compareExpr:
		f(&x.first)
		all(f, x.rest)
	case *condExpr:
		some(f, &x.cond, &x.then, &x.other)
	case *fieldExpr:
		var ns expr = x.ns
		f(&ns)
	}
}

func all(f func(*expr), lists ...[]expr) {
	for _, xs := range lists {
		for i := range xs {
			f(&xs[i])
		}
	}
}

// some leaves out the expressions that are not there.
func some(f func(*expr), xs ...*expr) {
	for _, x := range xs {
		if *x != nil {
			f(x)
		}
	}
}

func (a *argList) each(f func(*expr)) {
	all(f, a.pos, a.kw)
	some(f, &a.star, &a.starNames)
}

// kids are the expressions directly inside of another.
func kids(x expr) []expr {
	var out []expr
	eachKid(x, func(k *expr) { out = append(out, *k) })
	return out
}

// eachExpr calls f for the expressions that a statement evaluates itself;
// those that it assigns to, calls blocks and goes through are not among them.
func eachExpr(st stmt, f func(*expr)) {
	switch st := st.(type) {
	case *printStmt:
		f(&st.x)
	case *ifStmt:
		f(&st.test)
	case *setStmt:
		f(&st.x)
	case *setBlock:
		some(f, &st.filter)
	case *filterBlock:
		f(&st.filter)
	case *withStmt:
		all(f, st.values)
	}
}

// mentions reports whether statements ask for a name, macros inside them
// included: so Jinja2 decides whether a macro takes more than it declares.
func mentions(body []stmt, name string) bool {
	found := false
	var look func(x *expr)
	look = func(x *expr) {
		if n, ok := (*x).(*nameExpr); ok {
			found = found || n.name == name
			return
		}
		eachKid(*x, look)
	}
	for _, st := range body {
		eachExpr(st, look)
		switch st := st.(type) {
		case *forStmt:
			some(look, &st.iter, &st.test)
		case *macroStmt:
			all(look, st.defaults)
			found = found || mentions(st.body, name)
		case *callBlock:
			eachKid(st.call, look)
			found = found || mentions(st.call.caller.body, name)
		}
		for _, b := range bodies(st) {
			found = found || mentions(b, name)
		}
	}
	return found
}
