package jinja

import (
	"math"
	"slices"
)

var (
	mapMethods  map[string]method
	listMethods map[string]method
)

func init() {
	mapMethods = map[string]method{
		"get": methodGet, "items": viewing("dict_items"), "keys": viewing("dict_keys"), "values": viewing("dict_values"),
		"copy": methodCopy,
	}
	listMethods = map[string]method{"count": methodListCount, "index": methodListIndex, "copy": methodCopy}
}

func methodGet(_ *run, v Value, a *args) (Value, error) {
	if err := a.plain("get", 1, 2); err != nil {
		return v, err
	}
	x, ok, err := v.mapping().lookup(a.pos[0])
	switch {
	case ok || err != nil:
		return x, err
	case len(a.pos) > 1:
		return a.pos[1], nil
	}
	return none, nil
}

func viewing(name string) method {
	return func(_ *run, v Value, a *args) (Value, error) {
		return boxed(kView, &view{name, v.mapping()}), a.plain(name, 0, 0)
	}
}

// methodCopy gives the thing itself: nothing can change it.
func methodCopy(_ *run, v Value, a *args) (Value, error) { return v, a.plain("copy", 0, 0) }

func methodListCount(r *run, v Value, a *args) (Value, error) {
	if err := a.plain("count", 1, 1); err != nil {
		return v, err
	}
	n := 0
	for _, x := range v.items() {
		if err := r.spend(1); err != nil {
			return v, err
		}
		same, err := r.equal(x, a.pos[0], 0)
		if err != nil {
			return v, err
		}
		if same {
			n++
		}
	}
	return Int(int64(n)), nil
}

func methodListIndex(r *run, v Value, a *args) (Value, error) {
	if err := a.plain("index", 1, 3); err != nil {
		return v, err
	}
	vs := v.items()
	lo, hi := 0, len(vs)
	if len(a.pos) > 1 {
		var err error
		if lo, hi, _, err = bounds(len(vs), a.pos[1], at3(a.pos), none); err != nil {
			return v, err
		}
	}
	for i := lo; i < hi; i++ {
		if err := r.spend(1); err != nil {
			return v, err
		}
		if same, err := r.equal(vs[i], a.pos[0], 0); same || err != nil {
			return Int(int64(i)), err
		}
	}
	return v, valueError("value is not in list")
}

func floatIsInteger(_ *run, v Value, a *args) (Value, error) {
	f := v.float()
	return Bool(f == math.Trunc(f) && !math.IsInf(f, 0)), a.plain("is_integer", 0, 0)
}

// test is what stands after "is".
type test func(r *run, v Value, a *args) (bool, error)

var tests map[string]test

func init() {
	is := func(pass func(Value) bool) test {
		return func(_ *run, v Value, a *args) (bool, error) { return pass(v), a.plain("test", 0, 0) }
	}
	kinds := func(ks ...kind) test { return is(func(v Value) bool { return slices.Contains(ks, v.kind) }) }
	compared := func(op string) test {
		return func(r *run, v Value, a *args) (bool, error) {
			if err := a.plain(op, 1, 1); err != nil {
				return false, err
			}
			return r.compare(op, v, a.pos[0])
		}
	}
	tests = map[string]test{
		"defined": is(func(v Value) bool { return !v.undefined() }), "undefined": is(Value.undefined),
		"none": kinds(kNone), "boolean": kinds(kBool), "integer": kinds(kInt, kBig), "float": kinds(kFloat),
		"true": is(func(v Value) bool { return v.kind == kBool && v.n != 0 }), "false": is(func(v Value) bool { return v.kind == kBool && v.n == 0 }),
		"number": is(Value.number), "string": kinds(kString), "mapping": kinds(kMap),
		"sequence": kinds(kString, kList, kTuple, kMap, kRange, kUndefined, kMissing),
		"iterable": kinds(kString, kList, kTuple, kMap, kRange, kView, kIter, kLoop, kUndefined, kMissing),
		"callable": kinds(kMacro, kFunc, kLoop, kUndefined, kMissing), "escaped": is(func(v Value) bool { return v.kind == kString && v.safe }),
		"odd": parity(1), "even": parity(0), "divisibleby": testDivisible, "sameas": testSame,
		"lower": ofCase(isLower), "upper": ofCase(isUpper),
		"filter": named(func(s string) bool { return filters[s] != nil }), "test": named(func(s string) bool { return tests[s] != nil }),
		"in": compared("in"), "==": compared("=="), "eq": compared("=="), "equalto": compared("=="),
		"!=": compared("!="), "ne": compared("!="), ">": compared(">"), "gt": compared(">"), "greaterthan": compared(">"),
		">=": compared(">="), "ge": compared(">="), "<": compared("<"), "lt": compared("<"), "lessthan": compared("<"),
		"<=": compared("<="), "le": compared("<="),
	}
}

func parity(want int64) test {
	return func(r *run, v Value, a *args) (bool, error) {
		m, err := r.binary("%", v, Int(2))
		if err != nil {
			return false, err
		}
		if m.kind == kString {
			return false, nil
		}
		return compareNumbers(m, Int(want)) == 0, a.plain("test", 0, 0)
	}
}

func testDivisible(r *run, v Value, a *args) (bool, error) {
	if err := a.plain("divisibleby", 1, 1); err != nil {
		return false, err
	}
	m, err := r.binary("%", v, a.pos[0])
	return err == nil && m.number() && !truth(m), err
}

// testSame is Python's "is", which for values that cannot change comes to
// being of one kind and equal.
func testSame(r *run, v Value, a *args) (bool, error) {
	if err := a.plain("sameas", 1, 1); err != nil {
		return false, err
	}
	w := a.pos[0]
	switch {
	case v.kind != w.kind:
		return false, nil
	case v.kind == kList || v.kind == kTuple:
		x, y := v.items(), w.items()
		return len(x) == len(y) && (len(x) == 0 && v.kind == kTuple || len(x) > 0 && &x[0] == &y[0]), nil
	case v.kind == kMap || v.kind == kNamespace:
		return v.mapping() == w.mapping(), nil
	}
	return r.equal(v, w, 0)
}

func ofCase(pass func(string) bool) test {
	return func(r *run, v Value, a *args) (bool, error) {
		s, err := r.text(v)
		if err != nil {
			return false, err
		}
		return pass(s), a.plain("test", 0, 0)
	}
}

func named(known func(string) bool) test {
	return func(_ *run, v Value, a *args) (bool, error) {
		if _, err := keyOf(v); err != nil {
			return false, err
		}
		return v.kind == kString && known(v.str()), a.plain("test", 0, 0)
	}
}
