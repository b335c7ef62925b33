package jinja

// sameness is what it takes for two values to be one to a template.
type sameness struct {
	// exact asks that lists and mappings be the very same: the template looks
	// at that.
	exact bool
	// left is how many values may still be compared: lists that hold one
	// another can be endless work. What is not compared is not the same.
	left int
	// trace knows the messages: they are known by their pointers, whatever is
	// in them.
	trace *trace
}

// same reports values that a template cannot tell apart.
func (s *sameness) same(a, b Value) bool { return s.alike(a, b, 0) }

func (s *sameness) alike(a, b Value, depth int) bool {
	if s.left--; a.kind != b.kind || a.safe != b.safe || depth > deepest || s.left < 0 {
		return false
	}
	switch a.kind {
	case kString:
		return a.str() == b.str()
	case kNone, kMissing:
		return true
	case kBool, kInt, kFloat:
		return a.n == b.n
	case kList, kTuple:
		return s.items(a.items(), b.items(), depth)
	case kMap:
		return s.maps(a.mapping(), b.mapping(), depth)
	case kMacro:
		return as[macro](a).decl == as[macro](b).decl
	case kBig:
		return a.big().Cmp(b.big()) == 0
	case kRange:
		return *as[span](a) == *as[span](b)
	case kView:
		x, y := as[view](a), as[view](b)
		return x.name == y.name && s.maps(x.of, y.of, depth+1)
	case kUndefined:
		return s.lacks(a, b, depth)
	}
	return a.p == b.p
}

func (s *sameness) items(a, b []Value, depth int) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	if s.exact {
		return false
	}
	for i := range a {
		if !s.alike(a[i], b[i], depth+1) {
			return false
		}
	}
	return true
}

func (s *sameness) maps(a, b *Map, depth int) bool {
	if a == b {
		return true
	}
	if s.exact || len(a.keys) != len(b.keys) {
		return false
	}
	if s.trace != nil && s.trace.number(a) != notOne {
		return false
	}
	return s.items(a.keys, b.keys, depth) && s.items(a.vals, b.vals, depth)
}

func (s *sameness) lacks(a, b Value, depth int) bool {
	x, xname, xkey := a.lacking()
	y, yname, ykey := b.lacking()
	if x == nil || y == nil || x == y {
		return x == y && xname == yname && xkey == ykey
	}
	return x.hint == y.hint && s.alike(x.name, y.name, depth+1) && objectName(x.of) == objectName(y.of)
}
