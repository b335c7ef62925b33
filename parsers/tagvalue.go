package parsers

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// argument is the value that a tagged reader is in.
type argument struct {
	key     string
	schema  *schema
	types   types
	told    bool // the tag says that it is JSON
	lead    bool // the line feed in front is still to come
	text    bool // it is a string and goes out as it comes
	cdata   bool
	drop    bool // the key was there before
	wrapped bool // it may hold all arguments
	from    int  // how much of it was looked at, when it is held
	tried   int  // bytes that were read to see whether it is whole
	quotes  quotes
	nested  bool
	end     int // a place where it may end if nothing better comes, or -1
}

// argument begins one, whose tag was read.
func (r *tagged) argument() bool {
	key := string(r.key)
	s, declared := r.schema.property(key)
	a := argument{key: key, schema: s, types: s.types(), lead: r.spec.Arg.Newline, end: -1}
	a.drop = slices.Contains(r.keys, key)
	a.wrapped = !declared && len(r.keys) == 0 && !r.schema.open() && (key == "arguments" || key == "input")
	r.h.key = key
	switch word := strings.ToLower(string(r.h.str)); word {
	case "true":
		a.types = typeString
	case "false":
		a.told = true
	}
	switch word := string(r.h.typ); word {
	case "":
	case "string", "raw", "text":
		a.types = typeString
	default:
		a.told = true
	}
	r.h.str, r.h.typ = nil, nil
	if a.drop {
		r.flush()
		r.o.flaw(turn.Repaired)
	} else {
		r.keys = append(r.keys, key)
	}
	if a.types == 0 && r.spec.Values.Untyped != "json" {
		a.types = typeString | typeObject | typeArray
	} else if a.types == 0 {
		a.types = ^types(0)
	}
	r.args, r.at, r.left = a, inValue, r.left[:0]
	if r.spec.Arg.Nested {
		r.nest = append(r.nest[:0], element{key: key, schema: s})
	}
	return true
}

// value reads a value up to what ends it.
func (r *tagged) value(b []byte, last bool) (int, progress, bool) {
	a := &r.args
	if len(b) == 0 {
		return 0, more, false
	}
	if a.lead {
		a.lead = false
		if b[0] == '\n' {
			return 1, more, true
		}
	}
	if r.spec.Arg.CDATA && !a.cdata && !a.text && a.from == 0 {
		if n, f := literal(openData, b); f == fits {
			a.cdata = true
			return n, more, true
		} else if f == may && !last {
			return 0, more, false
		} else if f == may && len(b) > 1 {
			return len(b), more, false
		}
	}
	if !a.text && r.isText(b, last) {
		r.open()
		r.json = append(r.json, '"')
		a.text = true
	}
	if a.text {
		return r.stream(b, last)
	}
	return r.hold(b, last)
}

const (
	openData  = "<![CDATA["
	closeData = "]]>"
)

// isText reports whether a value that begins with b can only be a string.
func (r *tagged) isText(b []byte, last bool) bool {
	a := &r.args
	switch {
	case a.told, a.wrapped, a.types&typeString == 0:
		return false
	case a.types == typeString:
		return true
	}
	w := blank(b)
	s := b[w:]
	switch {
	case w == maxBlank: // so that it is not looked at again and again
		return true
	case len(s) == 0:
		return false
	case s[0] == '{' && a.types&typeObject != 0, s[0] == '[' && a.types&typeArray != 0:
		return false
	case len(s) < len(b):
		return true
	}
	n := 0
	for n < len(b) && isBare(b[n]) {
		n++
	}
	if n == len(b) && !last && n <= maxHead {
		return false
	}
	if n < len(b) && b[n] != '\n' && !r.first.first[b[n]] {
		return true
	}
	return !exactly(b[:n], a.types)
}

// open writes what stands before a value of the arguments.
func (r *tagged) open() {
	if n := len(r.nest); n > 1 {
		e := &r.nest[n-2]
		r.separate(e)
		if e.kind == aMap {
			r.json = append(appendString(r.json, []byte(r.nest[n-1].key)), ':')
		}
		return
	}
	if r.began {
		r.json = append(r.json, ',')
	} else {
		r.json = append(r.json, '{')
	}
	r.began = true
	r.json = append(appendString(r.json, []byte(r.args.key)), ':')
}

// hold leaves a value where it is until it is whole. Within quotes of JSON, or
// of a Python literal, tags do not count, unless it turns out that the quotes
// never end.
func (r *tagged) hold(b []byte, last bool) (int, progress, bool) {
	a := &r.args
	for a.from < len(b) {
		i := r.first.next(b, a.from)
		a.quotes.feed(b[a.from:i])
		a.from = i
		if i == len(b) {
			break
		}
		n, f := r.ends(b[i:], last)
		switch {
		case f == may:
			return 0, more, false
		case f == fits && !a.quotes.inside():
			r.whole(b[:r.edge(b, i)])
			return i + n, more, true
		case f == fits && a.end < 0:
			a.end = i
		case r.stranger && r.complete(b[:r.edge(b, i)]):
			r.whole(b[:r.edge(b, i)])
			return i + n, more, true
		}
		a.quotes.feed(b[i : i+1])
		a.from++
	}
	switch {
	case !last:
		return 0, more, false
	case a.end >= 0:
		i := a.end
		n, _ := r.ends(b[i:], last)
		r.whole(b[:r.edge(b, i)])
		return i + n, more, true
	}
	end := len(b)
	for i := range b {
		if i < len(b)-1 && r.breaksOff(b[i:]) {
			end = i
			break
		}
	}
	r.left = append(r.left[:0], b[:r.edge(b, end)]...)
	return len(b), more, false
}

// whole writes a value that was held.
func (r *tagged) whole(text []byte) {
	a := &r.args
	if a.cdata {
		text = bytes.TrimSuffix(bytes.TrimRight(text, spaces), []byte(closeData))
	}
	if a.wrapped && r.unwrap(text) {
		r.endValue()
		return
	}
	r.open()
	var flaw turn.Flaw
	switch s := bytes.TrimSpace(text); {
	case a.told:
		r.json, flaw = told(r.json, text)
	case a.nested && len(s) == 0 && a.types&(typeString|typeNull) == 0 && a.types&typeObject != 0:
		r.json = append(r.json, "{}"...)
	case a.nested && len(s) == 0 && a.types&(typeString|typeNull) == 0 && a.types&typeArray != 0:
		r.json = append(r.json, "[]"...)
	default:
		r.json, flaw = coerce(r.json, text, a.types)
	}
	r.o.flaw(flaw)
	r.endValue()
}

// unwrap writes the members of an object that holds all arguments of a tool
// that has no such argument itself.
func (r *tagged) unwrap(text []byte) bool {
	obj, _, ok := appendContainer(nil, bytes.TrimSpace(text), typeObject)
	var members map[string]json.RawMessage
	if !ok || json.Unmarshal(obj, &members) != nil || len(members) == 0 {
		return false
	}
	for k := range members {
		if _, declared := r.schema.property(k); !declared {
			return false
		}
	}
	r.keys = r.keys[:0]
	for k := range members {
		r.keys = append(r.keys, k)
	}
	r.json = append(r.json, bytes.TrimRight(obj[:len(obj)-1], spaces)...)
	r.began = true
	r.o.flaw(turn.Repaired)
	return true
}

// endValue goes on behind a value.
func (r *tagged) endValue() {
	if len(r.nest) > 1 {
		r.nest = r.nest[:len(r.nest)-1]
		return
	}
	r.nest = r.nest[:0]
	if r.args.drop {
		r.json = r.json[:0]
		r.args.drop = false
	}
	r.at = inArgs
}

// endAll ends a value that breaks off, and what holds it.
func (r *tagged) endAll() {
	for r.at == inValue {
		switch e := r.top(); {
		case e != nil && e.kind != aScalar && e.kind != unknownYet:
			r.endElement()
		case r.args.text:
			r.json = append(appendText(r.json, r.left), '"')
			r.endValue()
		default:
			r.whole(r.left)
		}
	}
}
