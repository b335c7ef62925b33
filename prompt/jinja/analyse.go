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

// kids are the expressions directly inside of another.
func kids(x expr) []expr {
	switch x := x.(type) {
	case *tupleExpr:
		return x.items
	case *listExpr:
		return x.items
	case *dictExpr:
		return append(append([]expr(nil), x.keys...), x.vals...)
	case *attrExpr:
		return []expr{x.of}
	case *itemExpr:
		return []expr{x.of, x.key}
	case *sliceExpr:
		return some(x.of, x.start, x.stop, x.step)
	case *callExpr:
		return append([]expr{x.fn}, x.args.kids()...)
	case *filterExpr:
		return append(some(x.of), x.args.kids()...)
	case *testExpr:
		return append([]expr{x.of}, x.args.kids()...)
	case *notExpr:
		return []expr{x.x}
	case *andExpr:
		return []expr{x.a, x.b}
	case *orExpr:
		return []expr{x.a, x.b}
	case *signExpr:
		return []expr{x.x}
	case *binExpr:
		return []expr{x.a, x.b}
	case *concatExpr:
		return x.parts
	case *compareExpr:
		return append([]expr{x.first}, x.rest...)
	case *condExpr:
		return some(x.cond, x.then, x.other)
	case *fieldExpr:
		return []expr{x.ns}
	}
	return nil
}

// some drops the expressions that were left out.
func some(xs ...expr) []expr {
	out := xs[:0]
	for _, x := range xs {
		if x != nil {
			out = append(out, x)
		}
	}
	return out
}

func (a *argList) kids() []expr {
	out := append(append([]expr(nil), a.pos...), a.kw...)
	return append(out, some(a.star, a.starNames)...)
}
