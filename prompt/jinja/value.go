package jinja

import (
	"math"
	"math/big"
)

// kind is what a Value is.
type kind uint8

const (
	kMissing kind = iota // a variable without a value yet; reads as undefined
	kUndefined
	kNone
	kBool
	kInt
	kBig
	kFloat
	kString
	kList
	kTuple
	kMap
	kNamespace
	kIter
	kRange
	kView
	kMacro
	kFunc
	kLoop
)

// Value is one value of a template: undefined, None, a boolean, an integer of
// any length, a float, a string, a list, a tuple, a mapping, or one of the
// things that only templates make. The zero Value is undefined. Values are
// passed by value and never change once made, namespaces excepted; what
// the constructors took belongs to the Value afterwards.
type Value struct {
	kind kind
	// safe marks a string that counts as escaped markup, and an undefined value
	// that stands for an attribute that the sandbox forbids.
	safe bool
	n    int64  // integer, boolean, bits of a float, kMap for what a mapping lacks, a namespace's number
	s    string // text, name of what is undefined
	p    any    // *big.Int, []Value, *Map, *iterator, …
}

var (
	none    = Value{kind: kNone}
	yes     = Value{kind: kBool, n: 1}
	no      = Value{kind: kBool}
	nothing = Value{kind: kUndefined}
)

// None is Python's None, JSON's null.
func None() Value { return none }

// Bool is True or False.
func Bool(b bool) Value {
	if b {
		return yes
	}
	return no
}

// Int is an integer.
func Int(n int64) Value { return Value{kind: kInt, n: n} }

// Float is a float.
func Float(f float64) Value { return Value{kind: kFloat, n: int64(math.Float64bits(f))} }

// String is a text. Bytes that are no UTF-8 are kept as they are.
func String(s string) Value { return Value{kind: kString, s: s} }

// List is a list of the given values; it takes over the slice.
func List(vs ...Value) Value { return Value{kind: kList, p: vs} }

// Mapping is a mapping with the entries of m, which must not change
// afterwards.
func Mapping(m *Map) Value { return Value{kind: kMap, p: m} }

func tuple(vs ...Value) Value { return Value{kind: kTuple, p: vs} }

func markup(s string) Value { return Value{kind: kString, safe: true, s: s} }

// like is a string that is markup if the given one is.
func like(v Value, s string) Value { return Value{kind: kString, safe: v.safe, s: s} }

// integer is an int of any length.
func integer(b *big.Int) Value {
	if b.IsInt64() {
		return Int(b.Int64())
	}
	return Value{kind: kBig, p: b}
}

func (v Value) float() float64 { return math.Float64frombits(uint64(v.n)) }

func (v Value) big() *big.Int {
	if v.kind == kBig {
		return v.p.(*big.Int)
	}
	return big.NewInt(v.n)
}

// items are the members of a list or tuple.
func (v Value) items() []Value {
	vs, _ := v.p.([]Value)
	return vs
}

func (v Value) mapping() *Map { return v.p.(*Map) }

func (v Value) undefined() bool { return v.kind <= kUndefined }

// integral reports an int or a bool, which is one in Python.
func (v Value) integral() bool { return v.kind == kInt || v.kind == kBool || v.kind == kBig }

func (v Value) number() bool { return v.integral() || v.kind == kFloat }

// undefinedName is a variable that does not exist.
func undefinedName(name string) Value { return Value{kind: kUndefined, s: name} }

// undefinedAttr is what of has no member name.
func undefinedAttr(of Value, name Value) Value {
	if of.kind == kMap && name.kind == kString {
		return Value{kind: kUndefined, n: int64(kMap), s: name.s}
	}
	return Value{kind: kUndefined, p: &lack{of: of, name: name}}
}

// lack says what an undefined value was looked up in, or why it is undefined.
type lack struct {
	of   Value
	name Value
	hint string
}

func undefinedHint(format string) Value { return Value{kind: kUndefined, p: &lack{hint: format}} }

// fault is the error of using an undefined value.
func (v Value) fault() error {
	l, _ := v.p.(*lack)
	switch {
	case v.safe:
		return raise("SecurityError", "access to attribute %s of %s object is unsafe.", repr(l.name), quote(typeName(l.of)))
	case l == nil && v.n != 0:
		return raise("UndefinedError", "'dict object' has no attribute %s", quote(v.s))
	case l == nil:
		return raise("UndefinedError", "%s is undefined", quote(v.s))
	case l.hint != "":
		return raise("UndefinedError", "%s", l.hint)
	case l.name.kind == kString:
		return raise("UndefinedError", "%s has no attribute %s", quote(objectName(l.of)), repr(l.name))
	}
	return raise("UndefinedError", "%s has no element %s", objectName(l.of), repr(l.name))
}

var typeNames = [...]string{
	kMissing: "Undefined", kUndefined: "Undefined", kNone: "NoneType", kBool: "bool", kInt: "int", kBig: "int",
	kFloat: "float", kString: "str", kList: "list", kTuple: "tuple", kMap: "dict", kNamespace: "Namespace",
	kIter: "generator", kRange: "range", kView: "dict_items", kMacro: "Macro", kFunc: "function", kLoop: "LoopContext",
}

// typeName is the name of the value's class in Python.
func typeName(v Value) string {
	switch {
	case v.kind == kString && v.safe:
		return "Markup"
	case v.kind == kView:
		return v.p.(*view).name
	case v.kind == kIter:
		return v.p.(*iterator).name
	case v.kind == kFunc:
		return v.p.(*function).class
	}
	return typeNames[v.kind]
}

// objectName is how messages about undefined attributes name their owner.
func objectName(v Value) string {
	switch v.kind {
	case kNone:
		return "None"
	case kNamespace:
		return "jinja2.utils.Namespace object"
	case kLoop, kMacro:
		return "jinja2.runtime." + typeName(v) + " object"
	}
	if v.kind == kString && v.safe {
		return "markupsafe.Markup object"
	}
	return typeName(v) + " object"
}

// truth is Python's bool().
func truth(v Value) bool {
	switch v.kind {
	case kMissing, kUndefined, kNone:
		return false
	case kBool, kInt:
		return v.n != 0
	case kFloat:
		return v.float() != 0
	case kString:
		return v.s != ""
	case kList, kTuple:
		return len(v.items()) > 0
	case kMap:
		return v.mapping().Len() > 0
	case kRange:
		return v.p.(*span).count() > 0
	case kView:
		return v.p.(*view).of.Len() > 0
	}
	return true
}
