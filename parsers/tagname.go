package parsers

import (
	"bytes"
	"strings"
)

// name reads the name of a call. It ends at NameEnd, or without one at white
// space or a tag; any tag of the format ends it where the model forgot.
func (r *tagged) name(b []byte, last bool) (int, progress, bool) {
	w := blank(b)
	if w > 0 {
		return w, more, true
	}
	if len(b) == 0 {
		return 0, more, false
	}
	at, n, f := 0, 0, misses
	if len(r.nameEnd) > 0 {
		at, n, f = r.h.until(r.nameEnd, b, last)
		if k, _, g := r.h.until(r.nameEnd, b, false); f == misses && g == may && k < len(b) {
			at, n, f = k, len(b)-k, fits // the answer ends in what ends the name
		}
	}
	if f == misses {
		at, f = r.bare(b, last)
		if f == fits && at == len(b) { // the answer ends in it
			if len(r.nameEnd) == 0 && isName(b) {
				r.called = append(r.called[:0], b...)
				return len(b), more, false
			}
			f = misses
		}
	}
	if f == may {
		r.ended = at > 0 && at < len(b) && isName(r.trim(b[:at]))
		if r.ended {
			r.called = append(r.called[:0], r.trim(b[:at])...)
		}
		return 0, more, false
	}
	name := r.trim(b[:at])
	if f == misses || !isName(name) {
		return 0, broken, false
	}
	r.called = append(r.called[:0], name...)
	r.at = inFollow
	return at + n, more, true
}

// bare finds the end of a name that nothing special ends.
func (r *tagged) bare(b []byte, last bool) (int, fit) {
	for i, c := range b[:min(len(b), maxHead)] {
		if isSpace(c) {
			if len(r.nameEnd) == 0 {
				return i, fits
			}
			w := blank(b[i:])
			return i, min(r.tagAt(b[i+w:], last), fits)
		}
		if f := r.tagAt(b[i:], last); f != misses {
			return i, f
		}
		if last && r.partial(b[i:]) {
			return i, fits
		}
	}
	switch {
	case len(b) >= maxHead:
		return 0, misses
	case last:
		return len(b), fits
	}
	return len(b), may
}

// tagAt reports whether b begins with a tag of the format.
func (r *tagged) tagAt(b []byte, last bool) fit {
	if len(b) == 0 {
		if last {
			return misses
		}
		return may
	}
	_, _, f := r.tag(b, last)
	return f
}

// isName reports whether a tool can have this name.
func isName(name []byte) bool {
	return len(name) > 0 && len(name) <= maxHead && !bytes.ContainsAny(name, " \t\r\n<>{}()[]\"'`=,;|")
}

// follow waits for what proves that this is a call: an argument, the end of
// the call, or the end of the answer.
func (r *tagged) follow(b []byte, last bool) (int, progress, bool) {
	w := blank(b)
	rest := b[w:]
	switch {
	case len(rest) == 0:
		if !last {
			return 0, more, false
		}
		if !r.sure() {
			return 0, broken, false
		}
	case object(rest) == fits:
	case object(rest) == may && !last:
		return 0, more, false
	default:
		t, _, f := r.tag(rest, last)
		if f == misses && last && r.sure() && r.partial(rest) {
			f = fits
		}
		if f == misses && t == noTag && r.spec.Arg.Nested {
			_, f = r.orphanEnd(rest, last)
		}
		switch f {
		case may:
			return 0, more, false
		case misses:
			return 0, broken, false
		}
	}
	r.say()
	r.at = inArgs
	return w, more, !r.o.refused
}

// sure reports whether the name needs nothing behind it to be one: a marker
// ended it, or a tool has it.
func (r *tagged) sure() bool {
	_, ok := r.offered.find(string(r.called))
	return ok || len(r.nameEnd) > 0 || len(r.offered.list) == 0
}

// say names the call.
func (r *tagged) say() {
	name, _ := r.offered.find(strings.TrimPrefix(string(r.called), r.spec.Call.Prefix))
	r.schema = r.offered.params(name)
	r.o.name(name, r.id)
}

// prelude passes over tags around arguments that follow a header.
func (r *tagged) prelude(b []byte, last bool) (int, progress, bool) {
	if w := blank(b); w > 0 {
		return w, more, true
	}
	if len(b) == 0 {
		return 0, more, false
	}
	n, f := r.h.any(r.spec.Section.Open, b, false)
	if f == fits {
		return n, more, true
	}
	if f == misses {
		n, f = r.h.any(r.spec.Call.Open, b, false)
		if f == fits {
			at, k, g := r.h.until(r.nameEnd, b[n:], false)
			n, f = n+at+k, g
		}
	}
	switch {
	case f == may && last: // the answer ends in it
		return len(b), more, false
	case f == may:
		return 0, more, false
	case f == misses:
		n = 0
	}
	r.at = inArgs
	return n, more, true
}

// tail passes over what closes the section in a body that a header began.
func (r *tagged) tail(b []byte, last bool) (int, progress, bool) {
	w := blank(b)
	if len(b) == w && !last {
		return 0, more, false
	}
	n, f := r.h.any(r.spec.Section.Close, b[w:], last)
	switch f {
	case fits:
		return w + n, whole, false
	case may:
		return 0, more, false
	}
	return 0, whole, false
}
