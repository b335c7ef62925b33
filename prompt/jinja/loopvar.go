package jinja

// fixed are the attributes of a loop variable that stay as they are during a
// round.
var fixed = map[string]bool{
	"index": true, "index0": true, "first": true, "last": true, "length": true, "revindex": true, "revindex0": true,
	"depth": true, "depth0": true, "previtem": true, "nextitem": true,
}

// counting are those that tell nothing of the items.
var counting = map[string]bool{"index": true, "index0": true, "first": true}

// asksOnly reports whether a body asks the loop variable in a slot for nothing
// but some of its attributes.
func asksOnly(body []stmt, slot int, some map[string]bool) bool {
	q := loopQuery{slot, some, true}
	q.body(body)
	return q.only
}

type loopQuery struct {
	slot int
	some map[string]bool
	only bool
}

func (q *loopQuery) body(body []stmt) {
	for _, st := range body {
		eachExpr(st, q.expr)
		switch st := st.(type) {
		case *macroStmt, *callBlock:
			q.only = false // it may ask from a frame of its own
		case *forStmt:
			q.expr(&st.iter)
			q.only = q.only && st.test == nil && !st.recursive
		}
		for _, b := range bodies(st) {
			q.body(b)
		}
	}
}

func (q *loopQuery) expr(x *expr) {
	switch x := (*x).(type) {
	case *nameExpr:
		q.only = q.only && (x.at.context || x.at.hops > 0 || x.at.slot != q.slot)
		return
	case *attrExpr:
		if n, ok := x.of.(*nameExpr); ok && n.at.slot == q.slot && q.some[x.name] {
			return
		}
	}
	eachKid(*x, q.expr)
}

// variable makes the loop variable of a loop that begins. One that nothing can
// hold on to is used again.
func (s *forStmt) variable(r *run) *loop {
	if n := len(r.loops); s.brief && n > 0 {
		l := r.loops[n-1]
		r.loops = r.loops[:n-1]
		return l
	}
	return &loop{}
}

func (s *forStmt) done(r *run, l *loop) {
	if s.brief {
		*l = loop{}
		r.loops = append(r.loops, l)
	}
}

// loopNumber is an attribute of a loop variable that takes no time.
type loopNumber uint8

const (
	noNumber loopNumber = iota
	indexNumber
	index0Number
	firstNumber
	lastNumber
)

var loopNumbers = map[string]loopNumber{"index": indexNumber, "index0": index0Number, "first": firstNumber, "last": lastNumber}

// loopOf is the loop that an expression gives if it is a variable that holds
// one over items at hand, else nil.
func loopOf(r *run, x expr) *loop {
	n, ok := x.(*nameExpr)
	if !ok {
		return nil
	}
	v := n.ref(r)
	if v.kind != kLoop {
		return nil
	}
	if l := as[loop](*v); l.it == nil {
		return l
	}
	return nil
}

func (l *loop) quick(n loopNumber) Value {
	switch n {
	case indexNumber:
		return Int(int64(l.index + 1))
	case index0Number:
		return Int(int64(l.index))
	case firstNumber:
		return Bool(l.index == 0)
	}
	return Bool(l.index+1 >= len(l.vs))
}
