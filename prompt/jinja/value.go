package jinja

import (
	"math"
	"math/big"
	"unsafe"
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
	// n is an integer, a boolean, the bits of a float, the length of a text or
	// list, a namespace's number, or what p of an undefined value is.
	n int64
	// p points to the text, the first member of a list or tuple, or what else
	// the kind says: *big.Int, *Map, *iterator, … Three words in place of the
	// seven that a string, a slice and an interface would take: most of what a
	// template does is handing values on.
	p unsafe.Pointer
}

// boxed is a value that points to what its kind says.
func boxed[T any](k kind, p *T) Value { return Value{kind: k, p: unsafe.Pointer(p)} }

// as is what a boxed value points to.
func as[T any](v Value) *T { return (*T)(v.p) }

// text is a text as a value of a kind.
func text(k kind, s string) Value {
	return Value{kind: k, n: int64(len(s)), p: unsafe.Pointer(unsafe.StringData(s))}
}

// str is the text that a value is, "" if it is none.
func (v Value) str() string {
	if v.kind != kString {
		return ""
	}
	return unsafe.String((*byte)(v.p), v.n)
}

// is reports a certain text.
func (v *Value) is(s string) bool {
	return v.n == int64(len(s)) && v.kind == kString && (v.n == 0 || *(*byte)(v.p) == s[0] && unsafe.String((*byte)(v.p), v.n) == s)
}

// members are a list or tuple of values.
func members(k kind, vs []Value) Value {
	return Value{kind: k, n: int64(len(vs)), p: unsafe.Pointer(unsafe.SliceData(vs))}
}

// items are the members of a list or tuple.
func (v Value) items() []Value {
	if v.kind != kList && v.kind != kTuple {
		return nil
	}
	return unsafe.Slice((*Value)(v.p), v.n)
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
func String(s string) Value { return text(kString, s) }

// List is a list of the given values; it takes over the slice.
func List(vs ...Value) Value { return members(kList, vs) }

// Mapping is a mapping with the entries of m, which must not change
// afterwards.
func Mapping(m *Map) Value { return boxed(kMap, m) }

func tuple(vs ...Value) Value { return members(kTuple, vs) }

func markup(s string) Value {
	v := String(s)
	v.safe = true
	return v
}

// like is a string that is markup if the given one is.
func like(v Value, s string) Value {
	w := String(s)
	w.safe = v.safe
	return w
}

// integer is an int of any length.
func integer(b *big.Int) Value {
	if b.IsInt64() {
		return Int(b.Int64())
	}
	return boxed(kBig, b)
}

func (v Value) float() float64 { return math.Float64frombits(uint64(v.n)) }

func (v Value) big() *big.Int {
	if v.kind == kBig {
		return as[big.Int](v)
	}
	return big.NewInt(v.n)
}

func (v Value) mapping() *Map { return as[Map](v) }

func (v Value) undefined() bool { return v.kind <= kUndefined }

// integral reports an int or a bool, which is one in Python.
func (v Value) integral() bool { return v.kind == kInt || v.kind == kBool || v.kind == kBig }

func (v Value) number() bool { return v.integral() || v.kind == kFloat }

// An undefined value points to the name of a variable, to the key that a
// mapping lacks, or to a lack.
const (
	ofName = iota
	ofKey
	ofLack
	ofBits = 2
)

// undefinedName is a variable that does not exist.
func undefinedName(name string) Value { return undefinedText(name, ofName) }

// undefinedKey is what a mapping lacks.
func undefinedKey(name string) Value { return undefinedText(name, ofKey) }

func undefinedText(s string, what int64) Value {
	v := text(kUndefined, s)
	v.n = v.n<<ofBits | what
	return v
}

func undefinedFor(l *lack) Value {
	v := boxed(kUndefined, l)
	v.n = ofLack
	return v
}

// unsafeAttr is an attribute that the sandbox forbids.
func unsafeAttr(of Value, name string) Value {
	v := undefinedFor(&lack{of: of, name: String(name)})
	v.safe = true
	return v
}

// lacking is why a value is undefined: a lack, or else a name.
func (v Value) lacking() (l *lack, name string, inMapping bool) {
	switch {
	case v.kind != kUndefined || v.p == nil:
		return nil, "", false
	case v.n&(1<<ofBits-1) == ofLack:
		return as[lack](v), "", false
	}
	return nil, unsafe.String((*byte)(v.p), v.n>>ofBits), v.n&(1<<ofBits-1) == ofKey
}

// undefinedAttr is what of has no member name.
func undefinedAttr(of Value, name Value) Value {
	if of.kind == kMap && name.kind == kString {
		return undefinedKey(name.str())
	}
	return undefinedFor(&lack{of: of, name: name})
}

// lack says what an undefined value was looked up in, or why it is undefined.
type lack struct {
	of   Value
	name Value
	hint string
}

func undefinedHint(format string) Value { return undefinedFor(&lack{hint: format}) }

// fault is the error of using an undefined value.
func (v Value) fault() error {
	l, name, inMapping := v.lacking()
	switch {
	case v.safe:
		return raise("SecurityError", "access to attribute %s of %s object is unsafe.", repr(l.name), quote(typeName(l.of)))
	case inMapping:
		return raise("UndefinedError", "'dict object' has no attribute %s", quote(name))
	case l == nil:
		return raise("UndefinedError", "%s is undefined", quote(name))
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
		return as[view](v).name
	case v.kind == kIter:
		return as[iterator](v).name
	case v.kind == kFunc:
		return as[function](v).class
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
		return v.str() != ""
	case kList, kTuple:
		return len(v.items()) > 0
	case kMap:
		return v.mapping().Len() > 0
	case kRange:
		return as[span](v).count() > 0
	case kView:
		return as[view](v).of.Len() > 0
	}
	return true
}
