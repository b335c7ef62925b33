package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// getter looks up an attribute such as "function.name" or 0 in an item; none
// is the item itself. or stands for what is undefined, unless it is None.
func (r *run) getter(attr, or Value) (func(Value) (Value, error), error) {
	var parts []Value
	switch {
	case attr.kind == kNone:
	case attr.kind == kString:
		for p := range strings.SplitSeq(attr.str(), ".") {
			part := String(p)
			if n, err := strconv.ParseInt(p, 10, 64); err == nil && p[0] >= '0' && p[0] <= '9' {
				part = Int(n)
			}
			parts = append(parts, part)
		}
	default:
		parts = []Value{attr}
	}
	return func(v Value) (Value, error) {
		for _, p := range parts {
			var err error
			if v, err = r.item(v, p); err != nil {
				return v, err
			}
			if or.kind != kNone && v.undefined() {
				v = or
			}
		}
		return v, nil
	}, nil
}

func (r *run) folded(sensitive Value, v Value) Value {
	if v.kind == kString && !truth(sensitive) {
		return like(v, lower(v.str()))
	}
	return v
}

func filterList(r *run, v Value, a *args) (Value, error) {
	if err := a.done("list", 0); err != nil {
		return v, err
	}
	vs, err := r.list(v)
	return List(vs...), err
}

func filterItems(r *run, v Value, a *args) (Value, error) {
	if err := a.done("items", 0); err != nil {
		return v, err
	}
	if v.kind == kMap {
		it, err := r.iterate(boxed(kView, &view{"dict_items", v.mapping()}))
		return generator("generator", it.next), err
	}
	return generator("generator", func() (Value, bool, error) {
		if v.undefined() {
			return v, false, nil
		}
		return v, false, typeError("Can only get item pairs from a mapping.")
	}), nil
}

func filterFirst(r *run, v Value, a *args) (Value, error) {
	if err := a.done("first", 0); err != nil {
		return v, err
	}
	it, err := r.iterate(v)
	if err != nil {
		return v, err
	}
	x, ok, err := it.next()
	if err == nil && !ok {
		x = undefinedHint("No first item, sequence was empty.")
	}
	return x, err
}

func filterLast(r *run, v Value, a *args) (Value, error) {
	if err := a.done("last", 0); err != nil {
		return v, err
	}
	if x, ok := index(v, -1); ok {
		return x, nil
	}
	it, err := r.backwards(v)
	if err != nil {
		return v, err
	}
	x, ok, err := it.next()
	if err == nil && !ok {
		x = undefinedHint("No last item, sequence was empty.")
	}
	return x, err
}

// backwards is Python's reversed().
func (r *run) backwards(v Value) (*iterator, error) {
	if v.kind == kIter || v.kind == kNone || v.kind == kLoop || v.number() {
		return nil, typeError("%s object is not reversible", quote(typeName(v)))
	}
	vs, err := r.list(v)
	if err != nil {
		return nil, err
	}
	return count(len(vs), func(i int) Value { return vs[len(vs)-1-i] }), nil
}

func filterReverse(r *run, v Value, a *args) (Value, error) {
	if err := a.done("reverse", 0); err != nil {
		return v, err
	}
	if v.kind == kString {
		return r.slice(v, none, none, Int(-1))
	}
	if it, err := r.backwards(v); err == nil {
		return generator("list_reverseiterator", it.next), nil
	}
	vs, err := r.list(v)
	if err != nil {
		if kindOf(err) == "TypeError" {
			return v, raise("FilterArgumentError", "argument must be iterable")
		}
		return v, err
	}
	vs = slices.Clone(vs)
	slices.Reverse(vs)
	return List(vs...), nil
}

// sorted orders values by their keys, equal ones as they came.
func (r *run) sorted(vs, keys []Value, reverse bool) ([]Value, error) {
	order := make([]int, len(vs))
	for i := range order {
		order[i] = i
	}
	if err := r.take(2 * perItem * len(vs)); err != nil {
		return nil, err
	}
	var fail error
	slices.SortStableFunc(order, func(a, b int) int {
		if fail != nil {
			return 0
		}
		if fail = r.spend(1); fail != nil {
			return 0
		}
		if reverse {
			a, b = b, a
		}
		for _, c := range [2][3]int{{a, b, -1}, {b, a, 1}} {
			less, err := r.less(keys[c[0]], keys[c[1]], "<", 0)
			if err != nil {
				fail = err
				return 0
			}
			if less {
				return c[2]
			}
		}
		return 0
	})
	out := make([]Value, len(vs))
	for i, n := range order {
		out[i] = vs[n]
	}
	return out, fail
}

// keys are the values that items are sorted or told apart by.
func (r *run) keys(vs []Value, attr, sensitive, or Value) ([]Value, error) {
	get, err := r.getter(attr, or)
	if err != nil {
		return nil, err
	}
	if err := r.take(perItem * len(vs)); err != nil {
		return nil, err
	}
	keys := make([]Value, len(vs))
	for i, v := range vs {
		if err := r.spend(1); err != nil {
			return nil, err
		}
		k, err := get(v)
		if err != nil {
			return nil, err
		}
		keys[i] = r.folded(sensitive, k)
	}
	return keys, nil
}

func filterSort(r *run, v Value, a *args) (Value, error) {
	reverse, sensitive := a.opt(0, "reverse", no), a.opt(1, "case_sensitive", no)
	attr := a.opt(2, "attribute", none)
	if err := a.done("sort", 3); err != nil {
		return v, err
	}
	vs, err := r.list(v)
	if err != nil {
		return v, err
	}
	attrs := []Value{attr}
	if attr.kind == kString {
		attrs = nil
		for s := range strings.SplitSeq(attr.str(), ",") {
			attrs = append(attrs, String(s))
		}
	}
	rows := make([][]Value, len(vs))
	for _, attr := range attrs {
		keys, err := r.keys(vs, attr, sensitive, none)
		if err != nil {
			return v, err
		}
		for i, k := range keys {
			rows[i] = append(rows[i], k)
		}
	}
	keys := make([]Value, len(vs))
	for i, row := range rows {
		keys[i] = List(row...)
	}
	vs, err = r.sorted(vs, keys, truth(reverse))
	return List(vs...), err
}

func filterDictsort(r *run, v Value, a *args) (Value, error) {
	sensitive, by, reverse := a.opt(0, "case_sensitive", no), a.opt(1, "by", String("key")), a.opt(2, "reverse", no)
	if err := a.done("dictsort", 3); err != nil {
		return v, err
	}
	if by.str() != "key" && by.str() != "value" {
		return v, raise("FilterArgumentError", `You can only sort by either "key" or "value"`)
	}
	if v.undefined() {
		return v, v.fault()
	}
	if v.kind != kMap {
		return v, raise("AttributeError", "%s object has no attribute 'items'", quote(typeName(v)))
	}
	m := v.mapping()
	pairs, err := (&view{"dict_items", m}).values(r)
	if err != nil {
		return v, err
	}
	from := m.keys
	if by.str() == "value" {
		from = m.vals
	}
	keys := make([]Value, len(from))
	for i, k := range from {
		keys[i] = r.folded(sensitive, k)
	}
	vs, err := r.sorted(pairs, keys, truth(reverse))
	return List(vs...), err
}

func filterUnique(r *run, v Value, a *args) (Value, error) {
	sensitive, attr := a.opt(0, "case_sensitive", no), a.opt(1, "attribute", none)
	if err := a.done("unique", 2); err != nil {
		return v, err
	}
	get, err := r.getter(attr, none)
	if err != nil {
		return v, err
	}
	var it *iterator
	seen := map[key]bool{}
	return generator("generator", func() (Value, bool, error) {
		if it == nil {
			var err error
			if it, err = r.iterate(v); err != nil {
				return v, false, err
			}
		}
		for {
			v, ok, err := it.next()
			if !ok || err != nil {
				return v, false, err
			}
			k, err := get(v)
			if err != nil {
				return v, false, err
			}
			h, err := keyOf(r.folded(sensitive, k))
			if err == nil {
				err = r.take(2 * perItem)
			}
			if err != nil {
				return v, false, err
			}
			if !seen[h] {
				seen[h] = true
				return v, true, r.spend(1)
			}
			if err := r.spend(1); err != nil {
				return v, false, err
			}
		}
	}), nil
}

func filterGroupby(r *run, v Value, a *args) (Value, error) {
	attr, ok := a.find(0, "attribute")
	or, sensitive := a.opt(1, "default", none), a.opt(2, "case_sensitive", no)
	if err := a.done("groupby", 3); err != nil {
		return v, err
	}
	if !ok {
		return v, typeError("groupby needs an attribute")
	}
	vs, err := r.list(v)
	if err != nil {
		return v, err
	}
	keys, err := r.keys(vs, attr, sensitive, or)
	if err != nil {
		return v, err
	}
	if vs, err = r.sorted(vs, keys, false); err != nil {
		return v, err
	}
	if keys, err = r.keys(vs, attr, sensitive, or); err != nil {
		return v, err
	}
	get, _ := r.getter(attr, or)
	groups := []Value{}
	for i := 0; i < len(vs); {
		j := i + 1
		for ; j < len(vs); j++ {
			if same, err := r.equal(keys[i], keys[j], 0); err != nil {
				return v, err
			} else if !same {
				break
			}
		}
		k, err := get(vs[i])
		if err != nil {
			return v, err
		}
		groups = append(groups, tuple(k, List(vs[i:j:j]...)))
		i = j
	}
	return List(groups...), nil
}
