package jinja

import "unicode/utf8"

// iterator gives the members of something one by one. As a Value it is a
// generator: it can be gone through once, and has neither length nor index.
type iterator struct {
	name string // of its class in Python
	next func() (Value, bool, error)
}

func generator(name string, next func() (Value, bool, error)) Value {
	return boxed(kIter, &iterator{name: name, next: next})
}

// span is Python's range.
type span struct{ start, stop, step int64 }

func (s *span) count() int {
	switch {
	case s.step > 0 && s.start < s.stop:
		return int((uint64(s.stop-s.start) + uint64(s.step) - 1) / uint64(s.step))
	case s.step < 0 && s.start > s.stop:
		return int((uint64(s.start-s.stop) + uint64(-s.step) - 1) / uint64(-s.step))
	}
	return 0
}

func (s *span) at(i int) Value { return Int(s.start + int64(i)*s.step) }

func (s *span) repr() string {
	t := "range(" + repr(Int(s.start)) + ", " + repr(Int(s.stop))
	if s.step != 1 {
		t += ", " + repr(Int(s.step))
	}
	return t + ")"
}

// view is what keys(), values() and items() of a mapping return.
type view struct {
	name string // dict_keys, dict_values, dict_items
	of   *Map
}

func (w *view) at(i int) Value {
	switch w.name {
	case "dict_keys":
		return w.of.keys[i]
	case "dict_values":
		return w.of.vals[i]
	}
	return tuple(w.of.keys[i], w.of.vals[i])
}

func (w *view) values(r *run) ([]Value, error) {
	if err := r.take(3 * perItem * w.of.Len()); err != nil {
		return nil, err
	}
	if w.name == "dict_items" {
		return w.pairs(), nil
	}
	vs := make([]Value, w.of.Len())
	for i := range vs {
		vs[i] = w.at(i)
	}
	return vs, nil
}

// handful is how many pairs are made at once though perhaps not all are asked
// for.
const handful = 32

// pairs are the members of dict_items.
func (w *view) pairs() []Value {
	n := w.of.Len()
	room := make([]Value, 3*n) // the list, then what its members hold
	for i := range n {
		pair := room[n+2*i:]
		pair[0], pair[1] = w.of.keys[i], w.of.vals[i]
		room[i] = tuple(pair[:2]...)
	}
	return room[:n:n]
}

// iterate is Python's iter().
func (r *run) iterate(v Value) (*iterator, error) {
	switch v.kind {
	case kIter:
		return as[iterator](v), nil
	case kList, kTuple:
		return each(v.items()), nil
	case kMap:
		return each(v.mapping().keys), nil
	case kMissing, kUndefined:
		return each(nil), nil
	case kString:
		return runes(v), nil
	case kRange:
		s := as[span](v)
		return count(s.count(), s.at), nil
	case kView:
		w := as[view](v)
		if w.name == "dict_items" && w.of.Len() <= handful {
			return each(w.pairs()), nil
		}
		return count(w.of.Len(), w.at), nil
	case kLoop:
		return as[loop](v).rest(), nil
	}
	return nil, typeError("%s object is not iterable", quote(typeName(v)))
}

func each(vs []Value) *iterator {
	i := 0
	return &iterator{"list_iterator", func() (Value, bool, error) {
		if i >= len(vs) {
			return Value{}, false, nil
		}
		i++
		return vs[i-1], true, nil
	}}
}

func count(n int, at func(int) Value) *iterator {
	i := 0
	return &iterator{"iterator", func() (Value, bool, error) {
		if i >= n {
			return Value{}, false, nil
		}
		i++
		return at(i - 1), true, nil
	}}
}

func runes(v Value) *iterator {
	s := v.str()
	return &iterator{"str_iterator", func() (Value, bool, error) {
		if s == "" {
			return Value{}, false, nil
		}
		_, n := utf8.DecodeRuneInString(s)
		c := s[:n]
		s = s[n:]
		return String(c), true, nil
	}}
}

// list is Python's list(): a list or tuple gives its own members, which must
// not be changed.
func (r *run) list(v Value) ([]Value, error) {
	switch v.kind {
	case kList, kTuple:
		return v.items(), nil
	case kMap:
		return v.mapping().keys, nil
	}
	it, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	return r.collect(it)
}

func (r *run) collect(it *iterator) ([]Value, error) {
	vs := []Value{}
	for {
		v, ok, err := it.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return vs, nil
		}
		if err := r.spend(1); err != nil {
			return nil, err
		}
		if err := r.take(perItem); err != nil {
			return nil, err
		}
		r.wild = r.wild || fleeting(v)
		vs = append(vs, v)
	}
}

// length is Python's len().
func length(v Value) (int, error) {
	switch v.kind {
	case kString:
		return utf8.RuneCountInString(v.str()), nil
	case kList, kTuple:
		return len(v.items()), nil
	case kMap:
		return v.mapping().Len(), nil
	case kMissing, kUndefined:
		return 0, nil
	case kRange:
		return as[span](v).count(), nil
	case kView:
		return as[view](v).of.Len(), nil
	case kLoop:
		return as[loop](v).size()
	}
	return 0, typeError("object of type %s has no len()", quote(typeName(v)))
}
