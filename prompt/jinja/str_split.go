package jinja

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// splitArgs are the separator, none for white space, and how often to split,
// -1 for always.
func splitArgs(r *run, a *args) (string, bool, int, error) {
	sep, most := a.opt(0, "sep", none), a.opt(1, "maxsplit", Int(-1))
	if err := a.done("split", 2); err != nil {
		return "", false, 0, err
	}
	n, err := r.size(most)
	if err != nil {
		return "", false, 0, err
	}
	switch {
	case sep.kind == kNone:
		return "", false, n, nil
	case sep.kind != kString:
		return "", false, 0, typeError("must be str or None, not %s", typeName(sep))
	case sep.str() == "":
		return "", false, 0, valueError("empty separator")
	}
	return sep.str(), true, n, nil
}

// parts makes a list of texts that are like v.
func (r *run) parts(v Value, parts []string) (Value, error) {
	vs := make([]Value, len(parts))
	for i, p := range parts {
		vs[i] = like(v, p)
	}
	return List(vs...), nil
}

// room takes what a split into at most so many parts needs.
func (r *run) room(s string, parts int) error { return r.take(len(s)>>4 + parts*(perItem+16)) }

func methodSplit(r *run, v Value, a *args) (Value, error) {
	sep, given, n, err := splitArgs(r, a)
	if err != nil {
		return v, err
	}
	if !given {
		if err := r.room(v.str(), min(len(v.str())/2+1, mostParts(n))); err != nil {
			return v, err
		}
		return r.parts(v, fields(v.str(), n))
	}
	found := strings.Count(v.str(), sep) + 1
	if n >= 0 {
		found = min(found, n+1)
	}
	if err := r.room(v.str(), found); err != nil {
		return v, err
	}
	return r.parts(v, strings.SplitN(v.str(), sep, found))
}

// mostParts is how many parts a split so often makes at most.
func mostParts(n int) int {
	if n < 0 {
		return 1 << 40
	}
	return n + 1
}

// fields splits at white space, n times at most where n is not negative.
func fields(s string, n int) []string {
	if n < 0 {
		return strings.FieldsFunc(s, isSpace)
	}
	var out []string
	for s = strings.TrimLeftFunc(s, isSpace); s != ""; s = strings.TrimLeftFunc(s, isSpace) {
		end := strings.IndexFunc(s, isSpace)
		if len(out) == n {
			return append(out, strings.TrimRightFunc(s, isSpace))
		}
		if end < 0 {
			return append(out, s)
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

func methodRsplit(r *run, v Value, a *args) (Value, error) {
	sep, given, n, err := splitArgs(r, a)
	if err != nil {
		return v, err
	}
	if n < 0 {
		if !given {
			sep = ""
		}
		return methodSplit(r, v, &args{pos: []Value{sepValue(sep, given)}})
	}
	if err := r.room(v.str(), min(len(v.str())+1, n+1)); err != nil {
		return v, err
	}
	var out []string
	s := v.str()
	if !given {
		s = strings.TrimRightFunc(s, isSpace)
	}
	for range n {
		var i, size int
		if given {
			i, size = strings.LastIndex(s, sep), len(sep)
		} else if i = strings.LastIndexFunc(s, isSpace); i >= 0 {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		if i < 0 {
			break
		}
		out = append(out, s[i+size:])
		if s = s[:i]; !given {
			s = strings.TrimRightFunc(s, isSpace)
		}
	}
	if given || s != "" {
		out = append(out, s)
	}
	slices.Reverse(out)
	return r.parts(v, out)
}

func sepValue(sep string, given bool) Value {
	if given {
		return String(sep)
	}
	return none
}

func methodSplitlines(r *run, v Value, a *args) (Value, error) {
	keep := a.opt(0, "keepends", no)
	if err := a.done("splitlines", 1); err != nil {
		return v, err
	}
	n := 1
	for _, c := range v.str() {
		if c >= '\n' && c <= '\r' || c >= 0x1c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029 {
			n++
		}
	}
	if err := r.room(v.str(), n); err != nil {
		return v, err
	}
	return r.parts(v, splitLines(v.str(), truth(keep)))
}

// parting makes partition and rpartition.
func parting(find func(s, x string) int, last bool) method {
	return func(_ *run, v Value, a *args) (Value, error) {
		if err := a.plain("partition", 1, 1); err != nil {
			return v, err
		}
		sep, err := a.text("partition()", 0)
		if err != nil {
			return v, err
		}
		if sep == "" {
			return v, valueError("empty separator")
		}
		i := find(v.str(), sep)
		switch {
		case i >= 0:
			return tuple(like(v, v.str()[:i]), like(v, sep), like(v, v.str()[i+len(sep):])), nil
		case last:
			return tuple(like(v, ""), like(v, ""), v), nil
		}
		return tuple(v, like(v, ""), like(v, "")), nil
	}
}

func methodReplace(r *run, v Value, a *args) (Value, error) {
	if err := a.plain("replace", 2, 3); err != nil {
		return v, err
	}
	old, err := a.text("replace()", 0)
	if err != nil {
		return v, err
	}
	with, err := a.text("replace()", 1)
	if err != nil {
		return v, err
	}
	n := -1
	if len(a.pos) > 2 {
		if n, err = r.size(a.pos[2]); err != nil {
			return v, err
		}
	}
	if v.safe && !a.pos[1].safe {
		with = escapeHTML(with)
	}
	s, err := r.replace(v.str(), old, with, n)
	return like(v, s), err
}

func methodJoin(r *run, v Value, a *args) (Value, error) {
	if err := a.plain("join", 1, 1); err != nil {
		return v, err
	}
	it, err := r.iterate(a.pos[0])
	if err != nil {
		if kindOf(err) == "TypeError" {
			return v, typeError("can only join an iterable")
		}
		return v, err
	}
	var b []byte
	for i := 0; ; i++ {
		x, ok, err := it.next()
		if err != nil || !ok {
			return like(v, string(b)), err
		}
		if x.kind != kString {
			return v, typeError("sequence item %d: expected str instance, %s found", i, typeName(x))
		}
		if i > 0 {
			b = append(b, v.str()...)
		}
		if v.safe && !x.safe {
			x = String(escapeHTML(x.str()))
		}
		b = append(b, x.str()...)
		if err := r.take(2 * (len(v.str()) + len(x.str()))); err != nil {
			return v, err
		}
		if err := r.spend(1); err != nil {
			return v, err
		}
	}
}

func methodCount(r *run, v Value, a *args) (Value, error) {
	x, _, err := r.within(v, a)
	if err != nil {
		return v, err
	}
	return Int(int64(strings.Count(x.str(), a.pos[0].str()))), r.spend(len(x.str()) >> 6)
}

// within is the part of v that a search with bounds looks at, and where that
// begins.
func (r *run) within(v Value, a *args) (Value, int, error) {
	if err := a.plain("find", 1, 3); err != nil {
		return v, 0, err
	}
	if _, err := a.text("find()", 0); err != nil {
		return v, 0, err
	}
	if len(a.pos) == 1 {
		return v, 0, nil
	}
	n, _ := length(v)
	lo, _, _, err := bounds(n, a.pos[1], none, none)
	if err != nil {
		return v, 0, err
	}
	part, err := r.slice(v, a.pos[1], at3(a.pos), none)
	return part, lo, err
}

func finding(find func(s, x string) int, must bool) method {
	return func(r *run, v Value, a *args) (Value, error) {
		part, lo, err := r.within(v, a)
		if err != nil {
			return v, err
		}
		i := find(part.str(), a.pos[0].str())
		if i < 0 {
			if must {
				return v, valueError("substring not found")
			}
			return Int(-1), nil
		}
		return Int(int64(lo + utf8.RuneCountInString(part.str()[:i]))), r.spend(len(part.str()) >> 6)
	}
}
