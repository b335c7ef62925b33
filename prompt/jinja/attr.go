package jinja

import (
	"strings"
	"unicode/utf8"
)

// method is a method of a string, a mapping or a list.
type method func(r *run, of Value, a *args) (Value, error)

// changing are the methods that the sandbox forbids, since they change what
// belongs to others.
var changing = map[kind]map[string]bool{
	kMap: {"clear": true, "pop": true, "popitem": true, "setdefault": true, "update": true},
	kList: {
		"append": true, "clear": true, "pop": true, "reverse": true, "insert": true, "sort": true, "extend": true, "remove": true,
	},
}

// methodOf is the method of that name, nil if there is none that may be used.
func methodOf(of Value, name string) method {
	switch of.kind {
	case kString:
		return stringMethods[name]
	case kMap:
		return mapMethods[name]
	case kList, kTuple:
		return listMethods[name]
	case kFloat:
		if name == "is_integer" {
			return floatIsInteger
		}
	}
	return nil
}

// member is what Python's getattr finds, apart from the items of a mapping.
func (r *run) member(of Value, name string) (Value, bool, error) {
	if m := methodOf(of, name); m != nil {
		return native(name, func(r *run, a *args) (Value, error) { return m(r, of, a) }), true, nil
	}
	switch of.kind {
	case kNamespace:
		if r.old(of) {
			r.unsteady()
		}
		v, ok := of.mapping().Find(name)
		return v, ok, nil
	case kLoop:
		return as[loop](of).attr(r, name)
	case kMacro:
		return as[macro](of).attr(name)
	case kRange:
		s := as[span](of)
		switch name {
		case "start":
			return Int(s.start), true, nil
		case "stop":
			return Int(s.stop), true, nil
		case "step":
			return Int(s.step), true, nil
		}
	case kFunc:
		if m := as[function](of).members; m != nil {
			v, ok := m(name)
			return v, ok, nil
		}
	}
	return Value{}, false, nil
}

func (m *macro) attr(name string) (Value, bool, error) {
	switch name {
	case "name":
		return String(m.decl.name), true, nil
	case "arguments":
		var vs []Value
		for _, p := range m.decl.params {
			vs = append(vs, String(p.name))
		}
		return tuple(vs...), true, nil
	case "catch_kwargs":
		return Bool(m.decl.kwargs != nil), true, nil
	case "catch_varargs":
		return Bool(m.decl.varargs != nil), true, nil
	case "caller":
		return Bool(m.decl.caller != nil), true, nil
	}
	return Value{}, false, nil
}

// hidden reports an attribute that Python has and the sandbox hides.
func hidden(of Value, name string) bool {
	return changing[of.kind][name] || strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}

func forbidden(of Value, name string) Value {
	return unsafeAttr(of, name)
}

// ofObject are the hidden attributes that even an undefined value has.
var ofObject = map[string]bool{
	"__class__": true, "__init__": true, "__doc__": true, "__module__": true, "__slots__": true, "__str__": true, "__repr__": true,
	"__len__": true, "__iter__": true, "__bool__": true, "__eq__": true, "__ne__": true, "__hash__": true, "__getattr__": true,
	"__getattribute__": true, "__setattr__": true, "__delattr__": true, "__dir__": true, "__reduce__": true, "__reduce_ex__": true,
	"__sizeof__": true, "__format__": true, "__new__": true, "__init_subclass__": true, "__subclasshook__": true,
}

// attr is of.name: an attribute first, then an item.
func (r *run) attr(of Value, name string) (Value, error) {
	if of.kind == kMap {
		if _, ok := mapMethods[name]; !ok && !hidden(of, name) {
			if v, ok := of.mapping().Find(name); ok {
				return v, nil
			}
			return undefinedAttr(of, String(name)), nil
		}
	}
	if of.undefined() {
		if ofObject[name] {
			return unsafeAttr(of, name), nil
		}
		return Value{}, of.fault()
	}
	if of.kind == kNamespace {
		if r.old(of) {
			r.unsteady()
		}
		if v := of.mapping().peek(name); v != nil {
			return *v, nil
		}
	}
	if v, ok, err := r.member(of, name); ok || err != nil {
		return v, err
	}
	if hidden(of, name) {
		return forbidden(of, name), nil
	}
	return undefinedAttr(of, String(name)), nil
}

// item is of[k]: an item first, then an attribute.
func (r *run) item(of, k Value) (Value, error) {
	switch {
	case of.undefined():
		return Value{}, of.fault()
	case of.kind == kMap:
		v, ok, err := of.mapping().lookup(k)
		if ok && err == nil {
			return v, nil
		}
	case k.kind == kInt || k.kind == kBool:
		if of.kind == kString {
			if err := r.reads(of.str()); err != nil {
				return Value{}, err
			}
		}
		if v, ok := index(of, int(k.n)); ok {
			return v, nil
		}
	}
	if k.kind == kString {
		if v, ok, err := r.member(of, k.str()); ok || err != nil {
			return v, err
		}
		if hidden(of, k.str()) {
			return forbidden(of, k.str()), nil
		}
	}
	return undefinedAttr(of, k), nil
}

// index is the member at a place, counted from the end if it is negative.
func index(of Value, i int) (Value, bool) {
	if of.kind == kString {
		return char(of, i)
	}
	if of.kind != kList && of.kind != kTuple && of.kind != kRange {
		return Value{}, false
	}
	n, _ := length(of)
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return Value{}, false
	}
	if of.kind == kRange {
		return as[span](of).at(i), true
	}
	return of.items()[i], true
}

func char(of Value, i int) (Value, bool) {
	s := of.str()
	if i < 0 {
		for ; i < -1 && s != ""; i++ {
			_, n := utf8.DecodeLastRuneInString(s)
			s = s[:len(s)-n]
		}
		if s == "" {
			return Value{}, false
		}
		_, n := utf8.DecodeLastRuneInString(s)
		return like(of, s[len(s)-n:]), true
	}
	for ; i > 0 && s != ""; i-- {
		_, n := utf8.DecodeRuneInString(s)
		s = s[n:]
	}
	if s == "" {
		return Value{}, false
	}
	_, n := utf8.DecodeRuneInString(s)
	return like(of, s[:n]), true
}
