package tape

import (
	"iter"
	"math"
	"strconv"
)

// Value is a position on a tape. The zero Value is one that is not there.
type Value struct {
	d *Doc
	i uint32
}

// Kind returns the value's kind, None when it is not there.
func (v Value) Kind() Kind {
	if v.d == nil {
		return None
	}
	return v.d.nodes[v.i].kind
}

// Given reports whether the value is there and not null.
func (v Value) Given() bool { return v.Kind() > Null }

// Raw returns the value as the client wrote it: a part of the source, or nil.
func (v Value) Raw() []byte {
	if v.d == nil {
		return nil
	}
	n := v.d.nodes[v.i]
	return v.d.src[n.start:n.end:n.end]
}

// Key returns the field of an object, or a Value that is not there.
func (v Value) Key(name string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	var found Value
	nodes := v.d.nodes
	for i, end := v.i+1, nodes[v.i].next; i < end; i = nodes[i+1].next {
		n := &nodes[i]
		if n.escaped && string(v.d.text(n)) == name || int(n.end-n.start) == len(name)+2 && string(v.d.src[n.start+1:n.end-1]) == name {
			found = Value{v.d, i + 1}
		}
	}
	return found
}

// Len returns how many elements an array has; of anything else, 0. Those that
// were skipped do not count.
func (v Value) Len() (n int) {
	for range v.Elements() {
		n++
	}
	return n
}

// Elements yields the elements of an array; of anything else, none.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != Array {
			return
		}
		end := v.d.nodes[v.i].next
		for n, i := 0, v.i+1; i < end; n, i = n+1, v.d.nodes[i].next {
			if !yield(n, Value{v.d, i}) {
				return
			}
		}
	}
}

// Empty reports whether an array or object holds nothing.
func (v Value) Empty() bool {
	return v.Kind() < Array || v.d.nodes[v.i].next == v.i+1
}

// Fields yields the keys and values of an object; of anything else, none.
func (v Value) Fields() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		if v.Kind() != Object {
			return
		}
		end := v.d.nodes[v.i].next
		for i := v.i + 1; i < end; i = v.d.nodes[i+1].next {
			if !yield(Value{v.d, i}, Value{v.d, i + 1}) {
				return
			}
		}
	}
}

// Int returns a number that is whole and fits.
func (v Value) Int() (int64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(v.Raw()), 10, 64); err == nil {
		return n, true
	}
	f, ok := v.Float()
	if !ok || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// Float returns a number.
func (v Value) Float() (float64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	return f, err == nil
}

// Step is one step on the way to a value: a key, or an index.
type Step struct {
	Key   string
	Index int // -1 for a key
}

// Path returns the way from the root to v. It walks the document and is for
// errors.
func (v Value) Path() []Step {
	var path []Step
	at := v.d.Root()
	for at.i != v.i {
		at = at.toward(v.i, &path)
	}
	return path
}

// toward returns the child of v that is or holds the node target.
func (v Value) toward(target uint32, path *[]Step) Value {
	holds := func(c Value) bool { return c.i <= target && target < c.d.nodes[c.i].next }
	for k, c := range v.Fields() {
		if holds(c) {
			*path = append(*path, Step{Key: k.Text(), Index: -1})
			return c
		}
	}
	for n, c := range v.Elements() {
		if holds(c) {
			*path = append(*path, Step{Index: n})
			return c
		}
	}
	return Value{v.d, target} // a key: no value leads to it
}
