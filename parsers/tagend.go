package parsers

import (
	"encoding/json"
	"slices"
)

// ends reports whether a value ends where b begins with a tag, and how long
// the tag is that closes it.
//
// That is a closing tag behind which the call goes on. Where the model forgot
// it, it is the tag of another argument that the tool has, or what closes the
// call and ends the answer, or the section.
func (r *tagged) ends(b []byte, last bool) (int, fit) {
	if len(b) == 0 {
		if last {
			return 0, fits
		}
		return 0, may
	}
	r.stranger = false
	if !r.begins(b) {
		return 0, misses
	}
	n, f := r.h.any(r.spec.Arg.Close, b, last)
	switch f {
	case may:
		return 0, may
	case fits:
		f = r.goesOn(b[n:], last)
		return n, f
	}
	t, n, f := r.tag(b, last)
	if f != fits {
		return 0, f
	}
	switch t {
	case opensArg:
		_, declared := r.schema.property(string(r.key))
		if declared && !slices.Contains(r.keys, string(r.key)) && len(r.nest) <= 1 {
			return 0, fits
		}
	case closesCall, closesOuter:
		return 0, r.over(b[n:], last)
	}
	return 0, misses
}

// goesOn reports whether what follows the closing tag of a value is what can
// follow it.
func (r *tagged) goesOn(b []byte, last bool) fit {
	b = b[blank(b):]
	if len(b) == 0 {
		if last {
			return fits
		}
		return may
	}
	if len(r.nest) > 1 {
		return r.inElement(b, last)
	}
	t, _, f := r.tag(b, false)
	switch {
	case f == may && last:
		return fits
	case f != fits:
		return f
	case t == opensArg && !r.takes(string(r.key)):
		r.stranger = true
		return misses
	case t == closesArg, t == opensBody:
		return misses
	}
	return fits
}

// complete reports whether text is a value as the tag or the schema wants it,
// and not just some string. One that was long and often not is not read again.
func (r *tagged) complete(text []byte) bool {
	a := &r.args
	if a.tried > maxReread {
		return false
	}
	a.tried += len(text)
	if a.told {
		return json.Valid(text)
	}
	if a.types&typeString != 0 || a.wrapped || a.cdata {
		return false
	}
	_, flaw := coerce(nil, text, a.types)
	return flaw == 0
}

// takes reports whether an argument may have this name.
func (r *tagged) takes(key string) bool {
	_, declared := r.schema.property(key)
	return declared || r.schema.open()
}

// over reports whether nothing but the end of the answer, or of what is around
// the call, or another call follows.
func (r *tagged) over(b []byte, last bool) fit {
	b = b[blank(b):]
	if len(b) == 0 {
		if last {
			return fits
		}
		return may
	}
	t, _, f := r.tag(b, false)
	switch {
	case f == may && last:
		return fits
	case f == fits && t != closesOuter && t != opensOuter:
		return misses
	}
	return f
}

// breaksOff reports whether all of b is the beginning of a tag that could
// have ended a value.
func (r *tagged) breaksOff(b []byte) bool {
	for _, m := range [...]Marks{r.spec.Arg.Close, r.spec.Call.Close, r.shut, r.spec.Arg.Open} {
		for _, p := range m {
			if _, f := r.h.match(p, b, false); f == may {
				return true
			}
		}
	}
	return false
}

// object reports whether b begins with a JSON object.
func object(b []byte) fit {
	if len(b) == 0 || b[0] != '{' {
		return misses
	}
	b = b[1+blank(b[1:]):]
	switch {
	case len(b) == 0:
		return may
	case b[0] == '"', b[0] == '\'', b[0] == '}':
		return fits
	}
	return misses
}

// body reads a JSON object in the place of arguments.
func (r *tagged) body(b []byte, last bool) (int, progress, bool) {
	for i, c := range b {
		v := r.object.feed(c)
		switch v {
		case took:
			continue
		case done:
			i++
		default:
			r.object.finish()
		}
		r.json = append(r.json, r.object.take()...)
		r.closed, r.at = true, inArgs
		return i, more, true
	}
	r.json = append(r.json, r.object.take()...)
	return len(b), more, false
}

// quotes tell whether a place in JSON, or in a Python literal, is in a string.
// The zero value is ready.
type quotes struct {
	in   byte // what closes the string
	esc  bool
	prev byte // the last byte that is no white space
}

func (q *quotes) feed(b []byte) {
	for _, c := range b {
		switch {
		case q.esc:
			q.esc = false
		case q.in != 0:
			if c == '\\' {
				q.esc = true
			} else if c == q.in {
				q.in, q.prev = 0, c
			}
		case isSpace(c):
		default:
			if (c == '"' || c == '\'') && (q.prev == 0 || q.prev == '{' || q.prev == '[' || q.prev == ',' || q.prev == ':' || q.prev == '(') {
				q.in = c
			}
			q.prev = c
		}
	}
}

// inside reports whether a string is open.
func (q *quotes) inside() bool { return q.in != 0 }
