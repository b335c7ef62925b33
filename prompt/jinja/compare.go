package jinja

import (
	"math/big"
	"strings"
)

// equal is Python's ==.
func (r *run) equal(a, b Value, depth int) (bool, error) {
	if a.kind == kString && b.kind == kString {
		if len(a.str()) == len(b.str()) && len(a.str()) >= 1<<12 {
			return a.str() == b.str(), r.spend(len(a.str()) >> 8)
		}
		return a.str() == b.str(), nil
	}
	if a.number() && b.number() {
		return compareNumbers(a, b) == 0, nil
	}
	if depth > deepest {
		return false, tooDeep()
	}
	if a.undefined() || b.undefined() {
		return a.undefined() && b.undefined(), nil
	}
	if a.kind != b.kind {
		return false, nil
	}
	switch a.kind {
	case kNone:
		return true, nil
	case kList, kTuple:
		return r.equalItems(a.items(), b.items(), depth)
	case kMap:
		return r.equalMaps(a.mapping(), b.mapping(), depth)
	case kRange:
		return *as[span](a) == *as[span](b), nil
	}
	return a.p == b.p, nil
}

func (r *run) equalItems(a, b []Value, depth int) (bool, error) {
	if len(a) != len(b) {
		return false, nil
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true, nil
	}
	for i := range a {
		if err := r.spend(1); err != nil {
			return false, err
		}
		if same, err := r.equal(a[i], b[i], depth+1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (r *run) equalMaps(a, b *Map, depth int) (bool, error) {
	if a == b || a.Len() != b.Len() {
		return a == b, nil
	}
	for i, k := range a.keys {
		if err := r.spend(1); err != nil {
			return false, err
		}
		v, ok, err := b.lookup(k)
		if !ok || err != nil {
			return false, err
		}
		if same, err := r.equal(a.vals[i], v, depth+1); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// compareNumbers orders two numbers; 2 means that one of them is no number
// at all.
func compareNumbers(a, b Value) int {
	switch {
	case a.kind != kFloat && b.kind != kFloat:
		if a.kind != kBig && b.kind != kBig {
			return sign(a.n, b.n)
		}
		return a.big().Cmp(b.big())
	case a.kind == kFloat && b.kind == kFloat:
		return compareFloats(a.float(), b.float())
	case a.kind == kFloat:
		if c := compareNumbers(b, a); c != 2 {
			return -c
		}
		return 2
	}
	f := b.float()
	if f != f || f-f != 0 { // not finite
		return compareFloats(0, f)
	}
	return new(big.Float).SetInt(a.big()).Cmp(big.NewFloat(f))
}

func sign(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return 2
}

// less is one of Python's four orders, by its operator.
func (r *run) less(a, b Value, op string, depth int) (bool, error) {
	if a.undefined() {
		return false, a.fault()
	}
	if b.undefined() {
		return false, b.fault()
	}
	var c int
	switch {
	case a.number() && b.number():
		if c = compareNumbers(a, b); c == 2 {
			return false, nil
		}
	case a.kind == kString && b.kind == kString:
		c = strings.Compare(a.str(), b.str())
	case a.kind == b.kind && (a.kind == kList || a.kind == kTuple):
		return r.lessItems(a.items(), b.items(), op, depth)
	default:
		return false, typeError("%s not supported between instances of %s and %s", quote(op), quote(typeName(a)), quote(typeName(b)))
	}
	return ordered(c, op), nil
}

func ordered(c int, op string) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func (r *run) lessItems(a, b []Value, op string, depth int) (bool, error) {
	if depth > deepest {
		return false, tooDeep()
	}
	for i := 0; i < len(a) && i < len(b); i++ {
		if err := r.spend(1); err != nil {
			return false, err
		}
		same, err := r.equal(a[i], b[i], depth+1)
		if err != nil {
			return false, err
		}
		if !same {
			return r.less(a[i], b[i], op, depth+1)
		}
	}
	return ordered(sign(int64(len(a)), int64(len(b))), op), nil
}

// contains is Python's "item in box".
func (r *run) contains(box, item Value) (bool, error) {
	switch box.kind {
	case kString:
		if item.kind != kString {
			return false, typeError("'in <string>' requires string as left operand, not %s", typeName(item))
		}
		if len(box.str()) >= 1024 {
			if err := r.spend(len(box.str()) >> 6); err != nil {
				return false, err
			}
		}
		return strings.Contains(box.str(), item.str()), nil
	case kMap:
		_, ok, err := box.mapping().lookup(item)
		return ok, err
	case kNone, kBool, kInt, kBig, kFloat, kMacro, kFunc, kNamespace:
		return false, typeError("argument of type %s is not iterable", quote(typeName(box)))
	}
	if box.kind == kList || box.kind == kTuple {
		return r.among(item, box.items())
	}
	it, err := r.iterate(box)
	if err != nil {
		return false, err
	}
	for {
		v, ok, err := it.next()
		if !ok || err != nil {
			return false, err
		}
		if err := r.spend(1); err != nil {
			return false, err
		}
		if same, err := r.equal(item, v, 0); same || err != nil {
			return same, err
		}
	}
}

func (r *run) among(item Value, vs []Value) (bool, error) {
	for i := range vs {
		if err := r.spend(1); err != nil {
			return false, err
		}
		if same, err := r.equal(item, vs[i], 0); same || err != nil {
			return same, err
		}
	}
	return false, nil
}
