package jinja

import (
	"slices"
	"strings"
)

// kept copies the arguments of a call for use after it.
func (a *args) kept() *args {
	return &args{pos: slices.Clone(a.pos), names: slices.Clone(a.names), kw: slices.Clone(a.kw)}
}

// filterMap is map(attribute=…, default=…) or map("filter", args…).
func filterMap(r *run, v Value, a *args) (Value, error) {
	change, err := r.mapping(a.kept())
	var it *iterator
	return generator("generator", func() (Value, bool, error) {
		if err != nil {
			return Value{}, false, err
		}
		if it == nil {
			if !truth(v) {
				return Value{}, false, nil
			}
			if it, err = r.iterate(v); err != nil {
				return Value{}, false, err
			}
		}
		x, ok, err := it.next()
		if !ok || err != nil {
			return x, false, err
		}
		if err := r.spend(1); err != nil {
			return x, false, err
		}
		x, err = change(x)
		return x, true, err
	}), nil
}

func (r *run) mapping(a *args) (func(Value) (Value, error), error) {
	if attr, ok := a.find(-1, "attribute"); ok && len(a.pos) == 0 {
		or := a.opt(-1, "default", none)
		if err := a.done("map", 0); err != nil {
			return nil, raise("FilterArgumentError", "Unexpected keyword argument")
		}
		return r.getter(attr, or)
	}
	if len(a.pos) == 0 {
		return nil, raise("FilterArgumentError", "map requires a filter argument")
	}
	name := a.pos[0].str()
	f := filters[name]
	if f == nil {
		return nil, raise("TemplateRuntimeError", "No filter named %s.", quote(name))
	}
	return func(v Value) (Value, error) {
		return f(r, v, &args{pos: a.pos[1:], names: a.names, kw: a.kw})
	}, nil
}

// selecting makes select, reject, selectattr and rejectattr.
func selecting(want, attr bool) filter {
	return func(r *run, v Value, a *args) (Value, error) {
		ok, err := r.condition(a.kept(), attr)
		var it *iterator
		return generator("generator", func() (Value, bool, error) {
			if err != nil {
				return Value{}, false, err
			}
			if it == nil {
				if !truth(v) {
					return Value{}, false, nil
				}
				if it, err = r.iterate(v); err != nil {
					return Value{}, false, err
				}
			}
			for {
				x, more, err := it.next()
				if !more || err != nil {
					return x, false, err
				}
				if err := r.spend(1); err != nil {
					return x, false, err
				}
				if yes, err := ok(x); err != nil || yes == want {
					return x, true, err
				}
			}
		}), nil
	}
}

// condition is what select and its kin ask of an item.
func (r *run) condition(a *args, attr bool) (func(Value) (bool, error), error) {
	get, pos := func(v Value) (Value, error) { return v, nil }, a.pos
	if attr {
		if len(pos) == 0 {
			return nil, raise("FilterArgumentError", "Missing parameter for attribute name")
		}
		get, _ = r.getter(pos[0], none)
		pos = pos[1:]
	}
	if len(pos) == 0 {
		return func(v Value) (bool, error) {
			v, err := get(v)
			if err != nil {
				return false, err
			}
			return truth(v), nil
		}, nil
	}
	t := tests[pos[0].str()]
	if t == nil {
		return nil, raise("TemplateRuntimeError", "No test named %s.", quote(pos[0].str()))
	}
	return func(v Value) (bool, error) {
		v, err := get(v)
		if err != nil {
			return false, err
		}
		return t(r, v, &args{pos: pos[1:], names: a.names, kw: a.kw})
	}, nil
}

// extreme makes min and max.
func extreme(op string) filter {
	return func(r *run, v Value, a *args) (Value, error) {
		sensitive, attr := a.opt(0, "case_sensitive", no), a.opt(1, "attribute", none)
		if err := a.done("min", 2); err != nil {
			return v, err
		}
		vs, err := r.list(v)
		if err != nil {
			return v, err
		}
		keys, err := r.keys(vs, attr, sensitive, none)
		if err != nil {
			return v, err
		}
		if len(vs) == 0 {
			return undefinedHint("No aggregated item, sequence was empty."), nil
		}
		best := 0
		for i := range keys {
			if i == 0 {
				continue
			}
			better, err := r.less(keys[i], keys[best], op, 0)
			if err != nil {
				return v, err
			}
			if better {
				best = i
			}
		}
		return vs[best], nil
	}
}

func filterSum(r *run, v Value, a *args) (Value, error) {
	attr, sum := a.opt(0, "attribute", none), a.opt(1, "start", Int(0))
	if err := a.done("sum", 2); err != nil {
		return v, err
	}
	if sum.kind == kString {
		return v, typeError("sum() can't sum strings [use ''.join(seq) instead]")
	}
	get, err := r.getter(attr, none)
	if err != nil {
		return v, err
	}
	vs, err := r.list(v)
	if err != nil {
		return v, err
	}
	for _, x := range vs {
		if x, err = get(x); err != nil {
			return v, err
		}
		if sum, err = r.binary("+", sum, x); err != nil {
			return v, err
		}
		if err := r.spend(1); err != nil {
			return v, err
		}
	}
	return sum, nil
}

func filterAttr(r *run, v Value, a *args) (Value, error) {
	if err := a.plain("attr", 1, 1); err != nil {
		return v, err
	}
	name, err := r.text(a.pos[0])
	if err != nil {
		return v, err
	}
	if v.undefined() {
		return v, v.fault()
	}
	x, ok, err := r.member(v, name)
	switch {
	case ok || err != nil:
		return x, err
	case hidden(v, name):
		return forbidden(v, name), nil
	}
	return undefinedAttr(v, String(name)), nil
}

// filterBatch gives lists of so many items each.
func filterBatch(r *run, v Value, a *args) (Value, error) {
	size, fill := a.opt(0, "linecount", Value{}), a.opt(1, "fill_with", none)
	if err := a.done("batch", 2); err != nil {
		return v, err
	}
	vs, err := r.list(v)
	if err != nil {
		return v, err
	}
	if !size.integral() {
		return v, typeError("batch needs a count")
	}
	n := clamped(size)
	if n <= 0 {
		n = len(vs) + 1
	}
	i := 0
	return generator("generator", func() (Value, bool, error) {
		if i >= len(vs) {
			return Value{}, false, nil
		}
		end := min(i+n, len(vs))
		row := slices.Clone(vs[i:end])
		i = end
		if short := n - len(row); fill.kind != kNone && clamped(size) > 0 && short > 0 {
			if short > r.bytes/perItem {
				return Value{}, false, r.take(r.bytes + 1)
			}
			for range short {
				row = append(row, fill)
			}
		}
		return List(row...), true, r.take(len(row) * perItem)
	}), nil
}

// filterSlice gives so many lists of about one size.
func filterSlice(r *run, v Value, a *args) (Value, error) {
	slots, fill := a.opt(0, "slices", Value{}), a.opt(1, "fill_with", none)
	if err := a.done("slice", 2); err != nil {
		return v, err
	}
	vs, err := r.list(v)
	if err != nil {
		return v, err
	}
	if !slots.integral() {
		return v, typeError("slice needs a count")
	}
	n := clamped(slots)
	if n == 0 {
		return v, zeroDivision("integer division or modulo by zero")
	}
	i, from := 0, 0
	return generator("generator", func() (Value, bool, error) {
		if i >= n {
			return Value{}, false, nil
		}
		size := len(vs) / n
		extra := i < len(vs)%n
		if extra {
			size++
		}
		row := slices.Clone(vs[from : from+size])
		from += size
		if !extra && fill.kind != kNone {
			row = append(row, fill)
		}
		i++
		return List(row...), true, r.take((len(row) + 1) * perItem)
	}), nil
}

func filterURLEncode(r *run, v Value, a *args) (Value, error) {
	if err := a.done("urlencode", 0); err != nil {
		return v, err
	}
	if v.kind == kMap || v.kind == kList || v.kind == kTuple {
		return v, typeError("urlencode of %s is outside of what chat templates may use", typeName(v))
	}
	s, err := r.text(v)
	if err != nil {
		return v, err
	}
	if err := r.take(3 * len(s)); err != nil {
		return v, err
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.-~/", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + strings.ToUpper(hexDigits(rune(c), 2)))
	}
	return String(b.String()), nil
}
