package parsers

import "bytes"

// element is a value that is being read where objects and lists are elements
// in turn.
type element struct {
	key    string
	schema *schema
	kind   elementKind
	some   bool // it has something in it
}

// elementKind is what an element turned out to be.
type elementKind uint8

const (
	unknownYet elementKind = iota
	aScalar
	aMap
	aList
)

// top is the innermost element, nil without any.
func (r *tagged) top() *element {
	if len(r.nest) == 0 {
		return nil
	}
	return &r.nest[len(r.nest)-1]
}

// nested reads a value whose objects and lists are elements.
func (r *tagged) nested(b []byte, last bool) (int, progress, bool) {
	e := r.top()
	r.h.key = e.key
	switch e.kind {
	case unknownYet:
		return r.judge(e, b, last)
	case aScalar:
		return r.value(b, last)
	}
	if w := blank(b); w > 0 {
		return w, more, true
	}
	if len(b) == 0 {
		return 0, more, false
	}
	n, f := r.h.any(r.spec.Arg.Close, b, last)
	switch f {
	case may:
		return 0, more, false
	case fits:
		r.endElement()
		return n, more, true
	}
	t, n, f := r.tag(b, last)
	switch {
	case f == may:
		return 0, more, false
	case f == fits && t == opensArg:
		r.child(e)
		return n, more, true
	case f == fits && t != closesArg, r.closesAbove(b, last):
		r.endElement() // its closing tag is missing
		return 0, more, true
	case last && r.partial(b):
		return len(b), more, false
	}
	return r.stray(e, b, last)
}

// judge decides what an element is: one that begins with a tag holds others,
// unless it is a string.
func (r *tagged) judge(e *element, b []byte, last bool) (int, progress, bool) {
	t := e.schema.types()
	if t != typeString {
		w := blank(b)
		if len(b) == w && !last {
			return 0, more, false
		}
		if len(b) > w {
			k, _, f := r.tag(b[w:], last)
			switch {
			case f == may:
				return 0, more, false
			case f == fits && k == opensArg && (t == 0 || t&(typeObject|typeArray) != 0):
				r.openElement(e, t)
				return w, more, true
			}
		}
	}
	if t == 0 {
		t = typeString | typeObject | typeArray
	}
	drop := r.args.drop
	r.args = argument{key: e.key, schema: e.schema, types: t, end: -1, nested: true, drop: drop}
	e.kind = aScalar
	r.left = r.left[:0]
	return 0, more, true
}

// openElement begins an object or a list, whose first child's tag was read.
func (r *tagged) openElement(e *element, t types) {
	e.kind = aMap
	if list := string(r.key) == r.spec.Arg.Item; t&typeObject == 0 && (t&typeArray != 0 || list) || t&typeArray != 0 && list {
		e.kind = aList
	}
	r.args.key = e.key
	r.open()
	if e.kind == aList {
		r.json = append(r.json, '[')
	} else {
		r.json = append(r.json, '{')
	}
}

// child begins an element within another.
func (r *tagged) child(e *element) {
	if len(r.nest) >= maxDepth {
		r.endElement()
		return
	}
	key := string(r.key)
	next := element{key: key}
	if e.kind == aMap {
		next.schema, _ = e.schema.property(key)
	} else {
		next.schema = e.schema.item()
	}
	r.nest = append(r.nest, next)
}

// separate writes a comma where one is needed.
func (r *tagged) separate(e *element) {
	if e.some {
		r.json = append(r.json, ',')
	}
	e.some = true
}

// endElement ends the innermost object or list.
func (r *tagged) endElement() {
	if r.top().kind == aMap {
		r.json = append(r.json, '}')
	} else {
		r.json = append(r.json, ']')
	}
	r.endValue()
}

// stray keeps text between elements, as one more of them.
func (r *tagged) stray(e *element, b []byte, last bool) (int, progress, bool) {
	n := min(r.first.next(b, 1), maxOrphan)
	if n == len(b) && !last {
		return 0, more, false
	}
	r.separate(e)
	if e.kind == aMap {
		r.json = append(r.json, `"$text":`...)
	}
	r.json = appendString(r.json, bytes.TrimRight(b[:n], spaces))
	return n, more, true
}

// closesAbove reports whether b begins with the closing tag of an element
// around the innermost one.
func (r *tagged) closesAbove(b []byte, last bool) bool {
	for i := len(r.nest) - 2; i >= 0; i-- {
		r.h.key = r.nest[i].key
		_, f := r.h.any(r.spec.Arg.Close, b, last)
		r.h.key = r.top().key
		if f == fits {
			return true
		}
	}
	return false
}

// inElement reports whether b begins with what can follow an element within
// another.
func (r *tagged) inElement(b []byte, last bool) fit {
	for _, p := range r.spec.Arg.Open {
		if _, f := literal(p[:len(p)-1], b); f != misses {
			if f == may && last {
				return fits
			}
			return f
		}
	}
	return misses
}

// orphan reads a first argument whose opening tag is missing, or all of it but
// the name.
func (r *tagged) orphan(b []byte, last bool) (int, fit) {
	end, f := r.orphanEnd(b, last)
	if f != fits {
		return 0, f
	}
	i := bytes.Index(b, []byte(head(r.spec.Arg.Close[0])))
	if i == 0 { // a stray closing tag
		return end, fits
	}
	text := bytes.TrimPrefix(b[:i], append(bytes.Clone(r.key), '>'))
	r.argument()
	r.nest = r.nest[:0]
	r.args.lead = false
	r.whole(text)
	return end, fits
}

// orphanEnd finds the tag that closes a value whose opening tag is missing, and
// leaves its key in r.key.
func (r *tagged) orphanEnd(b []byte, last bool) (int, fit) {
	mark := head(r.spec.Arg.Close[0])
	i := bytes.Index(b, []byte(mark))
	if i < 0 {
		if last || len(b) > maxOrphan {
			return 0, misses
		}
		return 0, may
	}
	from := i + len(mark)
	n := bytes.IndexByte(b[from:min(len(b), from+maxHead)], '>')
	switch {
	case n < 0 && (last || len(b)-from >= maxHead):
		return 0, misses
	case n < 0:
		return 0, may
	}
	key := b[from : from+n]
	if _, declared := r.schemaOf().property(string(key)); !declared {
		return 0, misses
	}
	r.key = append(r.key[:0], key...)
	return from + n + 1, fits
}

// maxOrphan is how long a value without its opening tag may be.
const maxOrphan = 1 << 12

// schemaOf is the schema of the tool that is called, said or not.
func (r *tagged) schemaOf() *schema {
	name, _ := r.offered.find(string(r.called))
	return r.offered.params(name)
}
