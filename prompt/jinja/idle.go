package jinja

// idle is a condition under which a loop does nothing in any of the rounds
// that are left: its body is one if, what that asks first is the same in every
// round until a round does something, and the branch then taken is empty.
// Before the if it may set variables of its own to what cannot fail where it
// did not in the rounds before. Templates without break end their searches so.
type idle struct {
	cond expr
	when bool
	// later is set where a round must have been run before: what it set could
	// fail.
	later bool
}

// findIdle sets the idle conditions of loops, and which are searches or mute.
func findIdle(body []stmt) {
	for _, st := range body {
		switch st := st.(type) {
		case *forStmt:
			st.idle, st.search, st.mute = st.idleWhen(), st.searches(), !prints(st.body)
		case *macroStmt:
			findIdle(st.body)
		case *callBlock:
			findIdle(st.call.caller.body)
		}
		for _, b := range bodies(st) {
			findIdle(b)
		}
	}
}

func (s *forStmt) idleWhen() *idle {
	var only *ifStmt
	sets := false
	for _, st := range s.body {
		if only == nil && s.counts(st) {
			sets = true
			continue
		}
		c, ok := st.(*ifStmt)
		if !ok || only != nil {
			return nil
		}
		only = c
	}
	switch {
	case only == nil || s.recursive || s.test != nil:
		return nil
	case sets:
		s.late = s.lateIf(only)
	}
	switch {
	case len(only.then) == 0:
		for x := only.test; ; {
			if s.steady(x) {
				return &idle{x, true, sets}
			}
			or, ok := x.(*orExpr)
			if !ok {
				return nil
			}
			x = or.a
		}
	case len(only.rest) == 0:
		for x := only.test; ; {
			if s.steady(x) {
				return &idle{x, false, sets}
			}
			and, ok := x.(*andExpr)
			if !ok {
				return nil
			}
			x = and.a
		}
	}
	return nil
}

// lateIf is the if of a body, where what is set before it is of use in its
// first branch only, and there is no other.
func (s *forStmt) lateIf(only *ifStmt) *ifStmt {
	late := len(only.rest) == 0 && s.body[len(s.body)-1] == stmt(only)
	var look func(x *expr)
	look = func(x *expr) {
		n, ok := (*x).(*nameExpr)
		if !ok {
			eachKid(*x, look)
			return
		}
		for _, st := range s.body[:len(s.body)-1] {
			set, ok := st.(*setStmt)
			late = late && ok && set.target.(*nameExpr).at != n.at
		}
	}
	look(&only.test)
	if !late {
		return nil
	}
	return only
}

// counts reports an assignment of a sum or difference of constants, lengths of
// what is the same in every round, and the number of the round to a variable of
// the body. Their kinds are the same in every round, so it fails in all of them
// or in none.
func (s *forStmt) counts(st stmt) bool {
	set, ok := st.(*setStmt)
	if !ok {
		return false
	}
	n, ok := set.target.(*nameExpr)
	return ok && n.at.hops == 0 && n.at.slot >= s.slots[0] && n.at.slot < s.slots[1] && s.count(set.x)
}

func (s *forStmt) count(x expr) bool {
	switch x := x.(type) {
	case *constExpr:
		return x.v.kind == kInt
	case *filterExpr:
		_, ok := x.of.(*nameExpr)
		return ok && x.name == "length" && !x.lenient && s.steady(x.of)
	case *attrExpr:
		n, ok := x.of.(*nameExpr)
		return ok && s.loopVar != nil && n.at == s.loopVar.at && (x.name == "index" || x.name == "index0")
	case *binExpr:
		return (x.op == "+" || x.op == "-") && s.count(x.a) && s.count(x.b)
	case *sumExpr:
		for _, part := range x.parts {
			if !s.count(part) {
				return false
			}
		}
		return true
	}
	return false
}

// steady reports an expression that changes nothing and looks at nothing that
// is new in every round.
func (s *forStmt) steady(x expr) bool {
	switch x := x.(type) {
	case *constExpr:
		return true
	case *nameExpr:
		return x.at.context || x.at.hops > 0 || x.at.slot < s.slots[0] || x.at.slot >= s.slots[1]
	case *attrExpr, *notExpr, *andExpr, *orExpr, *compareExpr:
		all := true
		eachKid(x, func(k *expr) { all = all && s.steady(*k) })
		return all
	}
	return false
}

// ended reports whether the rounds that are left do nothing. Those over a
// generator are run all the same, for it is used up by them.
func (s *forStmt) ended(r *run, v Value) (bool, error) {
	if v.kind == kIter || v.kind == kLoop {
		return false, nil
	}
	ok, err := s.idle.cond.test(r)
	return err == nil && ok == s.idle.when, err
}
