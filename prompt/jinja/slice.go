package jinja

import "unicode/utf8"

func (x *sliceExpr) eval(r *run) (Value, error) {
	of, err := x.of.eval(r)
	if err != nil {
		return of, err
	}
	var part [3]Value
	for i, e := range []expr{x.start, x.stop, x.step} {
		part[i] = none
		if e == nil {
			continue
		}
		if part[i], err = e.eval(r); err != nil {
			return Value{}, err
		}
	}
	v, err := r.slice(of, part[0], part[1], part[2])
	r.began = -1
	if part[0].kind == kInt && part[0].n >= 0 && part[0].n < 1<<30 {
		r.began = int(part[0].n)
	}
	return v, at(x.line, err)
}

// slice is Python's of[start:stop:step].
func (r *run) slice(of, start, stop, step Value) (Value, error) {
	switch of.kind {
	case kString, kList, kTuple, kRange:
	case kMissing, kUndefined:
		return Value{}, of.fault()
	case kMap:
		return Value{}, typeError("unhashable type: 'slice'")
	default:
		return Value{}, typeError("%s object is not subscriptable", quote(typeName(of)))
	}
	n, _ := length(of)
	if of.kind == kString {
		if err := r.reads(of.str()); err != nil {
			return Value{}, err
		}
	}
	lo, hi, by, err := bounds(n, start, stop, step)
	if err != nil {
		return Value{}, err
	}
	if of.kind == kString {
		return r.sliceText(of, n, lo, hi, by)
	}
	if of.kind == kRange {
		s := as[span](of)
		return boxed(kRange, &span{s.start + int64(lo)*s.step, s.start + int64(hi)*s.step, s.step * int64(by)}), nil
	}
	vs := of.items()
	if by == 1 {
		return members(of.kind, vs[lo:max(lo, hi)]), nil
	}
	count := (&span{int64(lo), int64(hi), int64(by)}).count()
	if err := r.take(count * perItem); err != nil {
		return Value{}, err
	}
	out := make([]Value, count)
	for i := range out {
		out[i] = vs[lo+i*by]
	}
	return members(of.kind, out), r.spend(count)
}

// sliceText cuts a text of n characters.
func (r *run) sliceText(of Value, n, lo, hi, by int) (Value, error) {
	s := of.str()
	ascii := n == len(s)
	if by == 1 {
		if hi <= lo {
			return like(of, ""), nil
		}
		if !ascii {
			from := offset(s, lo)
			return like(of, s[from:from+offset(s[from:], hi-lo)]), nil
		}
		return like(of, s[lo:hi]), nil
	}
	if err := r.take(5 * len(s)); err != nil {
		return Value{}, err
	}
	chars := []rune(s)
	count := (&span{int64(lo), int64(hi), int64(by)}).count()
	out := make([]byte, 0, count)
	for i := range count {
		out = utf8.AppendRune(out, chars[lo+i*by])
	}
	return like(of, string(out)), nil
}

// offset is where the character with number n begins.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// bounds are Python's rules for the ends of a slice of n items.
func bounds(n int, start, stop, step Value) (lo, hi, by int, err error) {
	by = 1
	for _, v := range []Value{start, stop, step} {
		if v.undefined() {
			return 0, 0, 0, typeError("slice indices must be integers or None or have an __index__ method")
		}
		if v.kind != kNone && !v.integral() {
			return 0, 0, 0, typeError("slice indices must be integers or None or have an __index__ method")
		}
	}
	if step.kind != kNone {
		if by = clamped(step); by == 0 {
			return 0, 0, 0, valueError("slice step cannot be zero")
		}
	}
	least, most := 0, n
	if by < 0 {
		least, most = -1, n-1
	}
	end := func(v Value, or int) int {
		if v.kind == kNone {
			return or
		}
		i := clamped(v)
		if i < 0 {
			return max(i+n, least)
		}
		return min(i, most)
	}
	if by < 0 {
		return end(start, most), end(stop, least), by, nil
	}
	return end(start, least), end(stop, most), by, nil
}

// clamped is an integer, or the nearest that counts of things can be.
func clamped(v Value) int {
	const far = 1 << 40
	if v.kind == kBig {
		return v.big().Sign() * far
	}
	return int(max(-far, min(far, v.n)))
}
