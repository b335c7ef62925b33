package jinja

// watch puts an expression into a watch.
func (m *marker) watch(x expr, bare []place) *watchExpr {
	w := &watchExpr{x: x, depth: m.depth, bare: bare, far: m.reach(x)}
	if a, ok := x.(*attrExpr); ok && w.far == nearReach {
		n, ok := a.of.(*nameExpr)
		w.index = ok && m.isLoop(n) && (a.name == "index" || a.name == "index0")
	}
	return w
}

// around are the attributes of a loop variable that tell of the number of the
// round and of the items beside its own.
var around = map[string]bool{"index": true, "index0": true, "first": true, "last": true, "previtem": true, "nextitem": true}

// uses is what an expression looks at.
type uses struct{ item, place, far bool }

// reach is how far the value of an expression may differ from round to round.
func (m *marker) reach(x expr) reach {
	var u uses
	m.use(x, &u)
	switch {
	case u.item:
		return anyReach
	case !u.place:
		return allReach
	case u.far || m.in == nil || !m.in.brief:
		return anyReach
	}
	return nearReach
}

func (m *marker) use(x expr, u *uses) {
	switch x := x.(type) {
	case *nameExpr:
		switch {
		case m.isLoop(x):
			u.place, u.far = true, true
		case m.isItem(x):
			u.item = true
		case !x.at.context || x.name == "messages":
			u.far = true
		}
		return
	case *attrExpr:
		if n, ok := x.of.(*nameExpr); ok && m.isLoop(n) {
			u.place = true
			u.far = u.far || !around[x.name]
			return
		}
	case *itemExpr:
		if n, ok := x.of.(*nameExpr); ok && n.at.context && n.name == "messages" && m.beside(x.key) {
			u.place = true
			return
		}
	}
	eachKid(x, func(k *expr) { m.use(*k, u) })
}

// beside reports the number of the round, of the one before or of the next.
func (m *marker) beside(x expr) bool {
	shift := int64(0)
	switch y := x.(type) {
	case *binExpr:
		c, ok := y.b.(*constExpr)
		if !ok || c.v.kind != kInt || y.op != "+" && y.op != "-" {
			return false
		}
		if x, shift = y.a, c.v.n; y.op == "-" {
			shift = -shift
		}
	case *sumExpr:
		c, ok := y.parts[1].(*constExpr)
		if !ok || c.v.kind != kInt || len(y.parts) != 2 {
			return false
		}
		x, shift = y.parts[0], c.v.n
	}
	a, ok := x.(*attrExpr)
	if !ok {
		return false
	}
	n, ok := a.of.(*nameExpr)
	if !ok || !m.isLoop(n) {
		return false
	}
	switch a.name {
	case "index":
		shift++
	case "index0":
	default:
		return false
	}
	return shift >= -1 && shift <= 1
}
