package jinja

// expr puts watches into an expression.
func (m *marker) expr(p *expr) {
	switch x := (*p).(type) {
	case *constExpr, *fieldExpr:
		return
	case *nameExpr:
		if m.isLoop(x) {
			*p = m.watch(x, nil) // nothing that can be compared
			return
		}
	case *attrExpr:
		if n, ok := x.of.(*nameExpr); ok && m.changed[x.name] && m.far(n) {
			*p = &watchCell{x, m.depth}
			return
		}
	case *compareExpr, *testExpr:
		if m.compares(*p) {
			*p = m.watch(*p, m.bare(*p, nil))
			return
		}
	case *callExpr:
		if !m.outside(x) {
			m.call(x)
			return
		}
	case *itemExpr:
		if m.outside(x.of) && !m.outside(x.key) {
			m.expr(&x.key)
			*p = &watchItem{x, m.depth, m.bare(x.of, nil), m.reach(x.of)}
			return
		}
	}
	if m.outside(*p) {
		if !m.global(*p) {
			*p = m.watch(*p, m.bare(*p, nil))
		}
		return
	}
	eachKid(*p, m.expr)
}

// call marks the parts of a call. A method is no value of its own, and a macro
// of the template is always the same.
func (m *marker) call(x *callExpr) {
	if fn, ok := x.fn.(*attrExpr); ok {
		m.expr(&fn.of)
	} else if m.known.macro(x.fn, m.depth) == nil {
		m.expr(&x.fn)
	}
	x.args.each(m.expr)
}

// compares reports a comparison of something in the item with something
// outside: what comes out of it is less likely to change than its parts.
func (m *marker) compares(x expr) bool {
	if m.item == nil || m.outside(x) {
		return false
	}
	m.mixed = true
	defer func() { m.mixed = false }()
	return m.outside(x) && m.reaches(x)
}

// reaches reports an expression that looks at anything but the item.
func (m *marker) reaches(x expr) bool {
	if n, ok := x.(*nameExpr); ok {
		return !m.isItem(n)
	}
	found := false
	eachKid(x, func(k *expr) { found = found || m.reaches(*k) })
	return found
}

func (m *marker) isItem(n *nameExpr) bool {
	return m.item != nil && !n.at.context && n.at.hops == m.depth && n.at.slot == m.item.slot
}

// far reports a variable of the context or of the template itself that no
// round sets.
func (m *marker) far(n *nameExpr) bool {
	if n.at.context {
		return true
	}
	if n.at.hops != m.depth {
		return false
	}
	for _, l := range m.loops {
		if n.at.slot >= l.slots[0] && n.at.slot < l.slots[1] {
			return false
		}
	}
	return true
}

// isLoop reports the loop variable of the loop around.
func (m *marker) isLoop(n *nameExpr) bool {
	return m.in != nil && m.in.loopVar != nil && !n.at.context && n.at.hops == m.depth && n.at.slot == m.in.loopVar.at.slot
}

// global reports a name that everybody knows; a context that gives it another
// meaning makes a Memo start anew.
func (m *marker) global(x expr) bool {
	n, ok := x.(*nameExpr)
	if !ok || !n.at.context {
		return false
	}
	_, ok = globals[n.name]
	return ok
}

// outside reports an expression whose value no round changes.
func (m *marker) outside(x expr) bool {
	switch x := x.(type) {
	case *constExpr:
		return true
	case *nameExpr:
		return m.far(x) || m.mixed && m.isItem(x)
	case *attrExpr:
		if n, ok := x.of.(*nameExpr); ok && m.isLoop(n) {
			return fixed[x.name]
		}
		return !m.changed[x.name] && m.outside(x.of)
	case *itemExpr:
		if c, ok := x.key.(*constExpr); ok && c.v.kind == kString && m.changed[c.v.str()] {
			return false
		}
	case *callExpr:
		return m.pure(x)
	case *filterExpr:
		if x.of == nil {
			return false
		}
	case *tupleExpr, *listExpr, *dictExpr, *sliceExpr, *testExpr, *notExpr, *andExpr, *orExpr, *signExpr, *binExpr, *sumExpr, *concatExpr,
		*compareExpr, *condExpr:
	default:
		return false
	}
	all := true
	eachKid(x, func(k *expr) { all = all && m.outside(*k) })
	return all
}

// pure reports a call of range, or of a method of texts and mappings, with
// arguments from outside.
func (m *marker) pure(x *callExpr) bool {
	if x.caller != nil {
		return false
	}
	ok := false
	switch fn := x.fn.(type) {
	case *nameExpr:
		ok = fn.at.context && fn.name == "range"
	case *attrExpr:
		_, text := stringMethods[fn.name]
		_, mapping := mapMethods[fn.name]
		ok = (text || mapping) && m.outside(fn.of)
	}
	x.args.each(func(a *expr) { ok = ok && m.outside(*a) })
	return ok
}

// bare are the variables that an expression uses as they are, not for one of
// their attributes. Nothing is known of a round that so uses what changes.
func (m *marker) bare(x expr, to []place) []place {
	switch x := x.(type) {
	case *nameExpr:
		if m.global(x) {
			return to
		}
		return append(to, x.at)
	case *attrExpr:
		if _, ok := x.of.(*nameExpr); ok {
			return to
		}
	case *callExpr:
		if fn, ok := x.fn.(*attrExpr); ok {
			to = m.bare(fn.of, to)
			x.args.each(func(a *expr) { to = m.bare(*a, to) })
			return to
		}
	}
	eachKid(x, func(k *expr) { to = m.bare(*k, to) })
	return to
}
