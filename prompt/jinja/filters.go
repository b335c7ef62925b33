package jinja

import (
	"strings"
)

// filter is what stands behind a bar.
type filter func(r *run, v Value, a *args) (Value, error)

var filters map[string]filter

func init() {
	filters = map[string]filter{
		"abs": filterAbs, "attr": filterAttr, "batch": filterBatch, "capitalize": ofText(capitalize), "center": filterCenter,
		"count": filterLength, "d": filterDefault, "default": filterDefault, "dictsort": filterDictsort, "e": filterEscape,
		"escape": filterEscape, "first": filterFirst, "float": filterFloat, "forceescape": filterForceEscape,
		"format": filterFormat, "groupby": filterGroupby, "indent": filterIndent, "int": filterInt, "items": filterItems,
		"join": filterJoin, "last": filterLast, "length": filterLength, "list": filterList, "lower": ofText(lower),
		"map": filterMap, "max": extreme(">"), "min": extreme("<"), "reject": selecting(false, false),
		"rejectattr": selecting(false, true), "replace": filterReplace, "reverse": filterReverse, "round": filterRound,
		"safe": filterSafe, "select": selecting(true, false), "selectattr": selecting(true, true), "slice": filterSlice,
		"sort": filterSort, "string": filterString, "sum": filterSum, "title": ofText(titleWords), "tojson": filterToJSON,
		"trim": filterTrim, "truncate": filterTruncate, "unique": filterUnique, "upper": ofText(upper),
		"urlencode": filterURLEncode, "wordcount": filterWordcount,
	}
}

// soft is the text of a value; markup stays markup.
func (r *run) soft(v Value) (Value, error) {
	if v.kind == kString {
		return v, nil
	}
	s, err := r.text(v)
	return String(s), err
}

// ofText makes a filter without arguments of a change of text.
func ofText(change func(string) string) filter {
	return func(r *run, v Value, a *args) (Value, error) {
		if err := a.done("filter", 0); err != nil {
			return v, err
		}
		v, err := r.soft(v)
		if err != nil {
			return v, err
		}
		if err := r.take(len(v.str())); err != nil {
			return v, err
		}
		return like(v, change(v.str())), nil
	}
}

func filterString(r *run, v Value, a *args) (Value, error) {
	if err := a.done("string", 0); err != nil {
		return v, err
	}
	return r.soft(v)
}

func filterSafe(r *run, v Value, a *args) (Value, error) {
	if err := a.done("safe", 0); err != nil {
		return v, err
	}
	s, err := r.text(v)
	return markup(s), err
}

func filterLength(r *run, v Value, a *args) (Value, error) {
	if err := a.plain("len", 0, 0); err != nil {
		return v, err
	}
	n, err := length(v)
	if err != nil {
		return v, err
	}
	return Int(int64(n)), r.reads(v.str())
}

func filterDefault(r *run, v Value, a *args) (Value, error) {
	or, boolean := a.opt(0, "default_value", String("")), a.opt(1, "boolean", no)
	if err := a.done("default", 2); err != nil {
		return v, err
	}
	if v.undefined() {
		return or, nil
	}
	if truth(boolean) && !truth(v) {
		return or, nil
	}
	return v, nil
}

func filterTrim(r *run, v Value, a *args) (Value, error) {
	chars := a.opt(0, "chars", none)
	if err := a.done("trim", 1); err != nil {
		return v, err
	}
	v, err := r.soft(v)
	if err != nil {
		return v, err
	}
	return r.strip(v, chars, true, true)
}

func filterReplace(r *run, v Value, a *args) (Value, error) {
	old, okOld := a.find(0, "old")
	with, okNew := a.find(1, "new")
	count := a.opt(2, "count", none)
	if err := a.done("replace", 3); err != nil {
		return v, err
	}
	if !okOld || !okNew {
		return v, typeError("do_replace() missing a required positional argument")
	}
	var text [3]string
	for i, x := range []Value{v, old, with} {
		var err error
		if text[i], err = r.text(x); err != nil {
			return v, err
		}
	}
	n := -1
	if count.kind != kNone {
		if !count.integral() {
			return v, typeError("%s object cannot be interpreted as an integer", quote(typeName(count)))
		}
		n = clamped(count)
	}
	s, err := r.replace(text[0], text[1], text[2], n)
	return String(s), err
}

// replace is strings.Replace within the limits.
func (r *run) replace(s, old, with string, n int) (string, error) {
	found := strings.Count(s, old)
	if n >= 0 {
		found = min(found, n)
	}
	if found == 0 {
		return s, r.spend(len(s) >> 6)
	}
	if len(with) > 0 && found > r.bytes/len(with) {
		return "", r.take(r.bytes + 1)
	}
	if err := r.take(len(s) + found*len(with)); err != nil {
		return "", err
	}
	return strings.Replace(s, old, with, n), nil
}

func filterJoin(r *run, v Value, a *args) (Value, error) {
	d, attr := a.opt(0, "d", String("")), a.opt(1, "attribute", none)
	if err := a.done("join", 2); err != nil {
		return v, err
	}
	sep, err := r.text(d)
	if err != nil {
		return v, err
	}
	get, err := r.getter(attr, none)
	if err != nil {
		return v, err
	}
	it, err := r.iterate(v)
	if err != nil {
		return v, err
	}
	var b []byte
	for first := true; ; first = false {
		x, ok, err := it.next()
		if err != nil {
			return v, err
		}
		if !ok {
			return String(string(b)), nil
		}
		if x, err = get(x); err != nil {
			return v, err
		}
		before := len(b)
		if !first {
			b = append(b, sep...)
		}
		if b, err = r.appendText(b, x); err != nil {
			return v, err
		}
		if err := r.take(2 * (len(b) - before)); err != nil {
			return v, err
		}
		if err := r.spend(1); err != nil {
			return v, err
		}
	}
}

func filterFormat(r *run, v Value, a *args) (Value, error) {
	if len(a.pos) > 0 && len(a.names) > 0 {
		return v, raise("FilterArgumentError", "can't handle positional and keyword arguments at the same time")
	}
	v, err := r.soft(v)
	if err != nil {
		return v, err
	}
	if len(a.names) == 0 {
		return r.format(v, tuple(append([]Value(nil), a.pos...)...))
	}
	m := &Map{}
	for i, name := range a.names {
		m.Set(name, a.kw[i])
	}
	return r.format(v, Mapping(m))
}

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;")

func escapeHTML(s string) string { return htmlEscapes.Replace(s) }

func filterEscape(r *run, v Value, a *args) (Value, error) {
	if err := a.plain("escape", 0, 0); err != nil {
		return v, err
	}
	if v.kind == kString && v.safe {
		return v, nil
	}
	return filterForceEscape(r, v, a)
}

func filterForceEscape(r *run, v Value, _ *args) (Value, error) {
	s, err := r.text(v)
	if err != nil {
		return v, err
	}
	if err := r.take(6 * len(s)); err != nil {
		return v, err
	}
	return markup(escapeHTML(s)), nil
}

func filterIndent(r *run, v Value, a *args) (Value, error) {
	width, first, blank := a.opt(0, "width", Int(4)), a.opt(1, "first", no), a.opt(2, "blank", no)
	if err := a.done("indent", 3); err != nil {
		return v, err
	}
	if v.undefined() {
		return v, v.fault()
	}
	if v.kind != kString {
		return v, unsupported("+=", v, String(""))
	}
	by := width
	if by.kind != kString {
		var err error
		if by, err = r.binary("*", String(" "), width); err != nil {
			return v, err
		}
	}
	lines := splitLines(v.str()+"\n", false)
	if n := len(lines) + 1; len(by.str()) > 0 && n > r.bytes/(len(by.str())+1) {
		return v, r.take(r.bytes + 1)
	}
	if err := r.take(2*len(v.str()) + (len(by.str())+1)*(len(lines)+1)); err != nil {
		return v, err
	}
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == 0 && truth(first) || i > 0 && (truth(blank) || line != "") {
			b.WriteString(by.str())
		}
		b.WriteString(line)
	}
	return like(v, b.String()), nil
}

func filterTruncate(r *run, v Value, a *args) (Value, error) {
	size, kill, end := a.opt(0, "length", Int(255)), a.opt(1, "killwords", no), a.opt(2, "end", String("..."))
	leeway := a.opt(3, "leeway", Int(5))
	if err := a.done("truncate", 4); err != nil {
		return v, err
	}
	n, err := length(v)
	if err == nil {
		err = r.reads(v.str())
	}
	if err != nil {
		return v, err
	}
	tail, err := length(end)
	if err != nil {
		return v, err
	}
	if !size.integral() || !leeway.integral() {
		return v, typeError("%s object cannot be interpreted as an integer", quote(typeName(size)))
	}
	most := clamped(size)
	if most < tail || clamped(leeway) < 0 {
		return v, raise("AssertionError", "expected length >= %d, got %d", tail, most)
	}
	if n <= most+clamped(leeway) {
		return v, nil
	}
	if v.kind != kString || end.kind != kString {
		return v, unsupported("+", v, end)
	}
	s := v.str()[:offset(v.str(), most-tail)]
	if !truth(kill) {
		if i := strings.LastIndexByte(s, ' '); i >= 0 {
			s = s[:i]
		}
	}
	return r.binary("+", like(v, s), end)
}

func filterCenter(r *run, v Value, a *args) (Value, error) {
	width := a.opt(0, "width", Int(80))
	if err := a.done("center", 1); err != nil {
		return v, err
	}
	v, err := r.soft(v)
	if err != nil {
		return v, err
	}
	return r.justify(v, &args{pos: []Value{width}}, true, true)
}

func filterWordcount(r *run, v Value, a *args) (Value, error) {
	if err := a.done("wordcount", 0); err != nil {
		return v, err
	}
	s, err := r.text(v)
	if err != nil {
		return v, err
	}
	words := strings.FieldsFunc(s, func(c rune) bool { return !isAlnum(c) && c != '_' })
	return Int(int64(len(words))), r.take(16 * len(words))
}
