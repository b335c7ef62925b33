package jinja

import "sync/atomic"

// fixedCall is the text of a call of a macro that looks at nothing but its
// parameters and other such macros, with constants. It is kept once the call
// was made.
type fixedCall struct {
	decl  *macroStmt
	needs []macroAt // the others
	text  atomic.Pointer[fixedText]
	left  *atomic.Int64 // bytes that the template may still keep
}

// macroAt is where among the template's variables a macro stands.
type macroAt struct {
	slot int
	decl *macroStmt
}

type fixedText struct {
	text               string
	steps, used, depth int // what the call cost, and how deep calls may be around it
}

// fix sees whether what is printed is such a call.
func (f *folder) fix(x expr, depth int) {
	c, ok := x.(*callExpr)
	if !ok || c.caller != nil || len(c.args.kw) > 0 || c.args.star != nil || c.args.starNames != nil {
		return
	}
	decl := f.macro(c.fn, depth)
	if decl == nil || whole(kList, c.args.pos) == nil {
		return
	}
	k := &closure{f: f, inside: map[*macroStmt]bool{}}
	if k.macro(decl) {
		c.fixed = &fixedCall{decl: decl, needs: k.needs, left: &f.left}
	}
}

// macro is the macro that an expression names in a function with so many
// around it, nil where that is not known.
func (f *folder) macro(x expr, depth int) *macroStmt {
	n, ok := x.(*nameExpr)
	if !ok || n.at.context || n.at.hops != depth {
		return nil
	}
	return f.macros[n.at.slot]
}

// mostNeeded is how many other macros such a call may need.
const mostNeeded = 16

// closure finds out what a macro looks at.
type closure struct {
	f      *folder
	needs  []macroAt
	inside map[*macroStmt]bool // of which it is
	open   bool                // something that may change, or calls itself
}

func (k *closure) macro(m *macroStmt) bool {
	if k.inside[m] || len(k.needs) > mostNeeded {
		k.open = true
		return false
	}
	k.inside[m] = true
	k.inits(m.init)
	all(k.expr, m.defaults)
	k.body(m.body)
	delete(k.inside, m)
	return !k.open
}

func (k *closure) body(body []stmt) {
	for _, st := range body {
		eachExpr(st, k.expr)
		switch st := st.(type) {
		case *dataStmt, *printStmt, *ifStmt, breakStmt, continueStmt:
		case *setStmt:
			k.target(st.target)
		case *forStmt:
			k.target(st.target)
			k.expr(&st.iter)
			k.inits(st.bodyInit)
			k.inits(st.elseInit)
			k.open = k.open || st.test != nil || st.recursive
		default:
			k.open = true
		}
		for _, b := range bodies(st) {
			k.body(b)
		}
	}
}

func (k *closure) target(x expr) {
	switch x := x.(type) {
	case *nameExpr:
		k.open = k.open || x.at.context || x.at.hops > 0
	case *tupleExpr:
		for _, item := range x.items {
			k.target(item)
		}
	default:
		k.open = true
	}
}

func (k *closure) inits(init []initial) {
	for i := range init {
		k.open = k.open || init[i].how == fromContext || init[i].how == fromOuter && init[i].from.hops > 0
	}
}

func (k *closure) expr(p *expr) {
	switch x := (*p).(type) {
	case *nameExpr:
		k.open = k.open || x.at.context || x.at.hops > 0
		return
	case *callExpr:
		k.open = k.open || x.caller != nil
		if m := k.f.macro(x.fn, 1); m != nil {
			k.needs = append(k.needs, macroAt{x.fn.(*nameExpr).at.slot, m})
			k.macro(m)
			x.args.each(k.expr)
			return
		}
	case *fieldExpr:
		k.open = true
	}
	eachKid(*p, k.expr)
}

// holds reports whether all macros are those that were meant.
func (x *fixedCall) holds(r *run, m *macro) bool {
	if m.decl != x.decl || m.up != r.root {
		return false
	}
	for _, n := range x.needs {
		if v := r.root.vars[n.slot]; v.kind != kMacro || as[macro](v).decl != n.decl || as[macro](v).up != r.root {
			return false
		}
	}
	return true
}

// print writes the text if it is known. It counts as if the call were made.
func (x *fixedCall) print(r *run, m *macro) (done bool, err error) {
	t := x.text.Load()
	if t == nil || !x.holds(r, m) || t.used > r.bytes || r.depth+t.depth > r.o.Depth {
		return false, nil
	}
	r.bytes -= t.used
	if err := r.spend(t.steps); err != nil {
		return true, err
	}
	r.put(t.text)
	return true, r.wrote()
}

// mostFixed is how long a text may be that is kept, allFixed how much all those
// of a template.
const mostFixed, allFixed = 1 << 12, 1 << 18

// keep keeps the text that a call gave, which began at from.
func (x *fixedCall) keep(r *run, m *macro, from, steps, used int) {
	if text := r.since(from); x.holds(r, m) && len(text) <= mostFixed && x.left.Add(-int64(len(text))) >= 0 {
		x.text.Store(&fixedText{string(text), steps - r.steps, used - r.bytes - r.framed, 1 + len(x.needs)})
	}
}
