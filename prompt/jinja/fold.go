package jinja

import "sync/atomic"

// literal is a list or tuple of constants, made once.
type literal struct {
	v    Value
	size int // members, those of its members included
}

// fold finds what is the same in every rendering: lists of constants, and the
// texts of macros that look at nothing but their parameters, where those are
// constants. It returns what it knows of the template's macros.
func fold(t *Template) *folder {
	t.body = compact(t.body)
	f := &folder{macros: map[int]*macroStmt{}, exact: t.exact}
	f.left.Store(allFixed)
	f.assigned(t.body, true)
	f.body(t.body, 0)
	return f
}

type folder struct {
	// macros are those that the template makes whatever it is given, by the
	// slots of variables that are never anything else; nil for other variables.
	macros map[int]*macroStmt
	exact  bool
	left   atomic.Int64 // see fixedCall
}

// assigned notes what is assigned to the template's variables. The top is not
// inside of other statements.
func (f *folder) assigned(body []stmt, top bool) {
	for _, st := range body {
		switch st := st.(type) {
		case *macroStmt:
			target := st.target
			if !top {
				st = nil
			}
			f.assign(target, st)
		case *setStmt:
			f.assign(st.target, nil)
		case *setBlock:
			f.assign(st.target, nil)
		case *forStmt:
			if st.recursive {
				continue // its variables are its own
			}
			f.assign(st.target, nil)
		case *withStmt:
			for _, x := range st.targets {
				f.assign(x, nil)
			}
		}
		for _, b := range bodies(st) {
			f.assigned(b, false)
		}
	}
}

func (f *folder) assign(target expr, m *macroStmt) {
	switch t := target.(type) {
	case *nameExpr:
		if _, again := f.macros[t.at.slot]; again {
			m = nil
		}
		f.macros[t.at.slot] = m
	case *tupleExpr:
		for _, x := range t.items {
			f.assign(x, nil)
		}
	}
}

// body goes through statements of a function with so many around it.
func (f *folder) body(body []stmt, depth int) {
	look := func(x *expr) { f.expr(*x, depth) }
	for _, st := range body {
		eachExpr(st, look)
		within := depth
		switch st := st.(type) {
		case *printStmt:
			f.fix(st.x, depth)
		case *forStmt:
			f.expr(st.iter, depth)
			if st.recursive {
				within++
			}
		case *macroStmt:
			all(func(x *expr) { f.expr(*x, depth+1) }, st.defaults)
			f.body(st.body, depth+1)
		case *callBlock:
			eachKid(st.call, look)
			f.body(st.call.caller.body, depth+1)
		}
		for _, b := range bodies(st) {
			f.body(b, within)
		}
	}
}

// expr makes the lists and arguments in an expression that are constant.
func (f *folder) expr(x expr, depth int) {
	eachKid(x, func(k *expr) { f.expr(*k, depth) })
	switch x := x.(type) {
	case *callExpr:
		x.args.fold()
	case *filterExpr:
		x.args.fold()
	case *testExpr:
		x.args.fold()
	}
	if f.exact {
		return // whoever compares by identity may see that two lists are one
	}
	switch x := x.(type) {
	case *listExpr:
		x.all = whole(kList, x.items)
	case *tupleExpr:
		x.all = whole(kTuple, x.items)
	}
}

// fold makes constant arguments once.
func (l *argList) fold() {
	if len(l.pos) == 0 || len(l.kw) > 0 || l.star != nil || l.starNames != nil {
		return
	}
	if w := whole(kList, l.pos); w != nil {
		l.all = &args{pos: w.v.items(), shared: true}
	}
}

// whole is a list of constants, nil if one is none.
func whole(k kind, items []expr) *literal {
	l := &literal{size: len(items)}
	vs := make([]Value, len(items))
	for i, x := range items {
		var inner *literal
		switch x := x.(type) {
		case *constExpr:
			vs[i] = x.v
			continue
		case *listExpr:
			inner = x.all
		case *tupleExpr:
			inner = x.all
		}
		if inner == nil {
			return nil
		}
		vs[i] = inner.v
		l.size += inner.size
	}
	l.v = members(k, vs)
	return l
}

// compact leaves out the statements that do nothing: the white space between
// tags that was cut away.
func compact(body []stmt) []stmt {
	n := 0
	for _, st := range body {
		switch st := st.(type) {
		case *dataStmt:
			if st.text == "" {
				continue
			}
		case *ifStmt:
			st.then, st.rest = compact(st.then), compact(st.rest)
		case *forStmt:
			st.body, st.other = compact(st.body), compact(st.other)
		case *setBlock:
			st.body = compact(st.body)
		case *filterBlock:
			st.body = compact(st.body)
		case *withStmt:
			st.body = compact(st.body)
		case *scopeStmt:
			st.body = compact(st.body)
		case *macroStmt:
			st.body = compact(st.body)
		case *callBlock:
			st.call.caller.body = compact(st.call.caller.body)
		}
		body[n] = st
		n++
	}
	return body[:n]
}
