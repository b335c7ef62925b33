package jinja

// marker puts watches into a compiled template.
type marker struct {
	loops   []*forStmt      // whose rounds can be reused
	changed map[string]bool // attributes of namespaces that rounds or macros set
	depth   int             // functions around the place at hand
	in      *forStmt        // the loop of those that is around it
	item    *place          // the variable of its item, nil if the body sets it
	mixed   bool            // whether that counts as outside
	active  bool            // whether it can run in a round of one
	fn      *layout         // of the template itself
	known   *folder
}

// least is the weight from which a loop that prints nothing is worth reusing.
const least = 60

// watch finds the loops whose rounds can be reused and puts watches on what
// they and the macros look at outside of themselves.
func watch(t *Template, known *folder) {
	m := &marker{changed: map[string]bool{}, fn: t.fn, known: known}
	findIdle(t.body)
	m.choose(t.body)
	if t.loops = len(m.loops); t.loops > 0 {
		m.collect(t.body)
		m.body(t.body)
	}
}

// choose picks loops that are run by the template itself, not by other loops
// or macros. What it prints of macros by itself becomes a loop of one round.
func (m *marker) choose(body []stmt) {
	for i, st := range body {
		if p, ok := st.(*printStmt); ok && callsMacro(p.x) {
			st = m.once(p)
			body[i] = st
		}
		if l, ok := st.(*forStmt); ok {
			if !l.recursive && (l.weight >= least || prints(l.body)) {
				m.loops = append(m.loops, l)
				l.id = len(m.loops)
			}
			continue
		}
		for _, b := range bodies(st) {
			m.choose(b)
		}
	}
}

// callsMacro reports the call of a variable of the template.
func callsMacro(x expr) bool {
	c, ok := x.(*callExpr)
	if !ok {
		return false
	}
	n, ok := c.fn.(*nameExpr)
	return ok && !n.at.context
}

// once is a loop that runs a statement once.
func (m *marker) once(p *printStmt) *forStmt {
	slot := m.fn.slots
	m.fn.slots++
	return &forStmt{
		target: &nameExpr{at: place{slot: slot}}, iter: &constExpr{tuple(none)}, body: []stmt{p}, line: p.line,
		brief: true, slots: [2]int{slot, slot + 1},
	}
}

// bodies are the statements inside of a statement that run in its function.
func bodies(st stmt) [][]stmt {
	switch st := st.(type) {
	case *ifStmt:
		return [][]stmt{st.then, st.rest}
	case *forStmt:
		return [][]stmt{st.body, st.other}
	case *setBlock:
		return [][]stmt{st.body}
	case *filterBlock:
		return [][]stmt{st.body}
	case *withStmt:
		return [][]stmt{st.body}
	case *scopeStmt:
		return [][]stmt{st.body}
	}
	return nil
}

func prints(body []stmt) bool {
	for _, st := range body {
		switch st := st.(type) {
		case *dataStmt, *callBlock:
			return true
		case *printStmt:
			if c, ok := st.x.(*callExpr); ok {
				if n, ok := c.fn.(*nameExpr); ok && n.name == "raise_exception" {
					continue
				}
			}
			return true
		case *setBlock:
			continue
		}
		for _, b := range bodies(st) {
			if prints(b) {
				return true
			}
		}
	}
	return false
}

// collect notes which attributes of namespaces rounds and macros set.
func (m *marker) collect(body []stmt) {
	for _, st := range body {
		active := m.active
		switch st := st.(type) {
		case *setStmt:
			m.field(st.target)
		case *setBlock:
			m.field(st.target)
		case *forStmt:
			m.active = active || st.id > 0
		case *macroStmt:
			m.active = true
			m.collect(st.body)
		case *callBlock:
			m.active = true
			m.collect(st.call.caller.body)
		}
		for _, b := range bodies(st) {
			m.collect(b)
		}
		m.active = active
	}
}

func (m *marker) field(target expr) {
	switch t := target.(type) {
	case *fieldExpr:
		if m.active {
			m.changed[t.attr] = true
		}
	case *tupleExpr:
		for _, x := range t.items {
			m.field(x)
		}
	}
}

// body marks statements.
func (m *marker) body(body []stmt) {
	for _, st := range body {
		if m.active {
			eachExpr(st, m.expr)
		}
		switch st := st.(type) {
		case *forStmt:
			m.loop(st)
			continue
		case *macroStmt:
			m.macro(st)
		case *callBlock:
			if m.active {
				m.call(st.call)
			}
			m.macro(st.call.caller)
		case *setStmt:
			m.target(st.target)
		case *setBlock:
			m.target(st.target)
			m.inits(st.init)
		case *filterBlock:
			m.inits(st.init)
		case *withStmt:
			m.inits(st.init)
		case *scopeStmt:
			m.inits(st.init)
		}
		for _, b := range bodies(st) {
			m.body(b)
		}
	}
}

func (m *marker) loop(l *forStmt) {
	before := *m
	if m.active {
		m.over(l)
	}
	if l.recursive {
		m.depth++
	}
	if m.active {
		m.inits(l.elseInit)
		m.inits(l.testInit)
		if t, ok := l.test.(*loopTest); ok {
			m.expr(&t.cond)
		}
	}
	m.body(l.other)
	if l.id > 0 {
		m.in, m.active, m.item = l, true, nil
		if n, ok := l.target.(*nameExpr); ok && !sets(l.body, n.at.slot) {
			m.item = &n.at
			l.blind = l.test == nil && asksOnly(l.body, n.at.slot, nil)
		}
	}
	m.inits(l.bodyInit)
	m.body(l.body)
	*m = before
}

// sets reports whether statements assign to a variable.
func sets(body []stmt, slot int) bool {
	found := false
	look := func(x expr) {
		n, ok := x.(*nameExpr)
		found = found || ok && n.at.slot == slot
	}
	for _, st := range body {
		var target expr
		switch st := st.(type) {
		case *setStmt:
			target = st.target
		case *setBlock:
			target = st.target
		case *macroStmt:
			target = st.target
		}
		look(target)
		if t, ok := target.(*tupleExpr); ok {
			for _, x := range t.items {
				look(x)
			}
		}
		for _, b := range bodies(st) {
			found = found || sets(b, slot)
		}
	}
	return found
}

// over marks what an inner loop goes through. A list that lies outside is
// watched item by item, unless the loop variable tells more of it.
func (m *marker) over(l *forStmt) {
	asks := l.test != nil || l.recursive || l.loopVar != nil && !asksOnly(l.body, l.loopVar.at.slot, counting)
	if !m.outside(l.iter) {
		if s, ok := l.iter.(*sliceExpr); ok && !asks && s.start != nil && s.stop == nil && s.step == nil && m.outside(s.of) {
			l.tail = &watchTail{s.of, m.depth, m.bare(s.of, nil), m.reach(s.of)}
			m.expr(&s.start)
			return
		}
		m.expr(&l.iter)
		return
	}
	w := m.watch(l.iter, m.bare(l.iter, nil))
	if asks {
		l.iter = w
		return
	}
	l.over = w
}

func (m *marker) macro(d *macroStmt) {
	before := *m
	m.depth++
	m.active = true
	m.inits(d.init)
	for i := range d.defaults {
		m.expr(&d.defaults[i])
	}
	m.body(d.body)
	*m = before
}

// inits watches the variables that a scope takes from outside.
func (m *marker) inits(init []initial) {
	if !m.active {
		return
	}
	for i := range init {
		n := &nameExpr{at: init[i].from}
		if init[i].how != fromNothing && m.far(n) {
			init[i].watch = m.watch(n, nil)
		}
	}
}

// target marks assignments to namespaces that lie outside.
func (m *marker) target(x expr) {
	switch x := x.(type) {
	case *fieldExpr:
		x.outside, x.depth = m.active && m.far(x.ns), m.depth
	case *tupleExpr:
		for _, item := range x.items {
			m.target(item)
		}
	}
}
