package jinja

import "unsafe"

// search is a loop that looks whether an item is of some kind: its body is one
// if, which looks at nothing but the item, cannot fail if that is a mapping,
// and sets attributes of namespaces to constants. Once one was found the rest
// changes nothing. Templates that ask so of every message what comes after it
// would take quadratic time, so what was found is kept during a rendering.
type search struct {
	cond expr
	then []stmt
}

// found is what a search found in the rest of a list: places are counted from
// its end.
type found struct {
	list []Value // what was looked at
	at   int     // the first that is of the kind, 0 if there is none
}

// searches reports whether a loop is a search.
func (s *forStmt) searches() *search {
	item, ok := s.target.(*nameExpr)
	if !ok || s.loopVar != nil || s.test != nil || s.recursive || s.other != nil {
		return nil
	}
	if len(s.body) != 1 {
		return nil
	}
	only, ok := s.body[0].(*ifStmt)
	if !ok || len(only.rest) > 0 || !item.tells(only.test) {
		return nil
	}
	for _, st := range only.then {
		set, ok := st.(*setStmt)
		if !ok {
			return nil
		}
		_, constant := set.x.(*constExpr)
		if _, field := set.target.(*fieldExpr); !field || !constant {
			return nil
		}
	}
	return &search{only.test, only.then}
}

// tells reports an expression that looks at nothing but a variable and does
// not fail if that is a mapping.
func (n *nameExpr) tells(x expr) bool {
	switch x := x.(type) {
	case *notExpr:
		return n.tells(x.x)
	case *andExpr:
		return n.tells(x.a) && n.tells(x.b)
	case *orExpr:
		return n.tells(x.a) && n.tells(x.b)
	case *compareExpr:
		if len(x.ops) != 1 {
			return false
		}
		switch x.ops[0] {
		case "==", "!=":
			return n.member(x.first) && constantText(x.rest[0])
		case "in", "not in":
			m, ok := x.rest[0].(*nameExpr)
			return ok && m.at == n.at && constantText(x.first)
		}
	}
	return n.member(x)
}

// member reports a key of a variable.
func (n *nameExpr) member(x expr) bool {
	var of expr
	switch x := x.(type) {
	case *attrExpr:
		if x.key {
			of = x.of
		}
	case *itemExpr:
		if x.plain {
			of = x.of
		}
	}
	m, ok := of.(*nameExpr)
	return ok && m.at == n.at
}

func constantText(x expr) bool {
	c, ok := x.(*constExpr)
	return ok && c.v.kind == kString
}

// find runs the loop over a list. It is not done where a member is no mapping.
func (s *forStmt) find(r *run, vs []Value) (done bool, err error) {
	f := r.found[s]
	if f == nil || !f.covers(vs) {
		at, ok := s.first(r, vs)
		if !ok {
			return false, nil
		}
		if f == nil {
			if r.found == nil {
				r.found = map[*forStmt]*found{}
			}
			f = &found{}
			r.found[s] = f
		}
		*f = found{vs, at}
	}
	r.turns, r.broke = len(vs), f.at > 0
	if f.at > 0 {
		r.turns -= f.at - 1
	}
	if err := r.spend(r.turns * (1 + s.weight)); err != nil || f.at == 0 {
		return true, err
	}
	turns := r.turns
	_, err = r.exec(s.search.then)
	r.turns, r.broke = turns, true
	return true, err
}

// covers reports a list that is the end of what was looked at, with what was
// found in it.
func (f *found) covers(vs []Value) bool {
	n, all := len(vs), len(f.list)
	return n > 0 && n <= all && unsafe.SliceData(vs) == &f.list[all-n] && f.at <= n
}

// first is the first member of the kind that is looked for, counted from the
// end. It is not ok where a member is no mapping.
func (s *forStmt) first(r *run, vs []Value) (at int, ok bool) {
	item := &r.fr.vars[s.target.(*nameExpr).at.slot]
	for i := range vs {
		if vs[i].kind != kMap {
			return 0, false
		}
		if at > 0 {
			continue
		}
		*item = vs[i]
		yes, err := s.search.cond.test(r)
		if err != nil {
			return 0, false
		}
		if yes {
			at = len(vs) - i
		}
	}
	return at, true
}
