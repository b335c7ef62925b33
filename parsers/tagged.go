package parsers

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// tagged reads calls whose arguments stand between tags.
//
// A tag that closes a value counts only where the call goes on behind it: with
// an argument that the tool has, or with the end of the call. So code in a
// value may hold such tags.
type tagged struct {
	spec    *Spec
	offered *tools
	nameEnd Marks
	shut    Marks // what closes something around a call
	opens   Marks // what opens something around a call
	first   marks // for the first bytes of all tags
	second  [256]bool

	o      *out
	at     place
	rests  Marks // of the opening marker, behind its first brace
	called []byte
	ended  bool // the name is whole, though what ends it may not be
	id     string
	inner  bool // the name is known from outside: tags around arguments mean nothing
	schema *schema
	h      holes

	key      []byte   // of the tag read last
	keys     []string // of the arguments so far
	stranger bool     // an argument follows that the tool does not have
	args     argument
	object   value       // a JSON object instead of tagged arguments
	plain    *jsonReader // of a JSON object instead of a tagged call
	nest     []element
	left     []byte // of a value that breaks off
	began    bool   // the object of arguments has an opening brace
	closed   bool   // and a closing one
	json     []byte // arguments not yet handed on
}

// place is where in a call a tagged reader is.
type place uint8

const (
	inHead    place = iota // behind the opening marker, before the name
	inName                 // the name
	inFollow               // behind the name, before what proves the call
	inPrelude              // behind a header that told the name
	inArgs                 // between arguments
	inValue                // in a value
	inObject               // in a JSON object that stands for all arguments
	inPlain                // in a JSON object that stands for the call
	inTail                 // behind the call, in a body that a header began
)

// tag is what stands between values.
type tag uint8

const (
	noTag       tag = iota
	closesCall      // Call.Close
	closesOuter     // what is around the call
	opensOuter      // the next call, or what is around it
	closesArg       // Arg.Close
	opensArg        // a whole opening tag with its key
	opensBody       // Arg.Body
)

// newTagged returns a reader of the calls of a spec.
func newTagged(spec *Spec, offered *tools) *tagged {
	r := &tagged{spec: spec, offered: offered}
	for _, m := range spec.Call.NameEnd {
		if strings.TrimSpace(m) != "" { // white space ends a name anyway
			r.nameEnd = append(r.nameEnd, m)
		}
	}
	r.shut = slices.Concat(spec.Section.Close, Marks(spec.Tokens.Stop), Marks(spec.Tokens.Strip))
	r.opens = slices.Concat(spec.Section.Open, Marks(heads(spec.Call.Open)))
	if spec.Frame != nil {
		r.shut = slices.Concat(r.shut, spec.Frame.End)
		r.opens = slices.Concat(r.opens, spec.Frame.Open)
	}
	all := slices.Concat(r.shut, r.opens, spec.Call.Close, spec.Arg.Open, spec.Arg.Close, spec.Arg.Body.Open, spec.Arg.Body.Close)
	r.first.add(absorbed, all...)
	for _, m := range all {
		if len(m) < 2 || isSpace(m[1]) || m[1] == '{' {
			for c := range r.second {
				r.second[c] = true
			}
			break
		}
		r.second[m[1]] = true
	}
	return r
}

func (r *tagged) begin(o *out) {
	r.o, r.at, r.inner = o, inHead, false
	r.rests = r.rests[:0]
	for _, t := range r.spec.Call.Open {
		if h := head(t); h != t && (o.open == "" || o.open == h) {
			r.rests = append(r.rests, t[len(h):])
		}
	}
	if len(r.rests) == 0 {
		r.at = inName
	}
	if o.open == "" && len(r.spec.Section.Open) > 0 { // a section without the marker of a call
		if r.plain == nil {
			r.plain = newJSONReader(r.spec)
		}
		r.at = inPlain
		r.plain.begin(o)
	}
	r.called, r.ended, r.id, r.schema = r.called[:0], false, "", nil
	r.keys, r.nest, r.json = r.keys[:0], r.nest[:0], r.json[:0]
	r.began, r.closed = false, false
}

// named begins a call whose name a header told. Tags around its arguments may
// follow and mean nothing.
func (r *tagged) named(name, id string) {
	r.called, r.id, r.inner = append(r.called[:0], name...), id, true
	r.say()
	r.at = inPrelude
}

func (r *tagged) read(b []byte, last bool) (int, progress) {
	if r.at == inPlain {
		return r.plain.read(b, last)
	}
	n := 0
	for {
		k, p, on := r.step(b[n:], last)
		if n += k; on {
			continue
		}
		r.flush()
		return n, p
	}
}

// step reads one thing. on means that the next one can be read.
func (r *tagged) step(b []byte, last bool) (n int, p progress, on bool) {
	switch r.at {
	case inHead:
		n, f := r.h.any(r.rests, b, last)
		switch f {
		case fits:
			r.id = string(r.h.id)
			r.at = inName
			return n, more, true
		case may:
			return 0, more, false
		}
		return 0, broken, false
	case inName:
		return r.name(b, last)
	case inFollow:
		return r.follow(b, last)
	case inPrelude:
		return r.prelude(b, last)
	case inArgs:
		return r.between(b, last)
	case inObject:
		return r.body(b, last)
	case inTail:
		return r.tail(b, last)
	}
	if len(r.nest) > 0 {
		return r.nested(b, last)
	}
	return r.value(b, last)
}

// between reads what stands between arguments.
func (r *tagged) between(b []byte, last bool) (int, progress, bool) {
	w := blank(b)
	if w > 0 {
		return w, more, true
	}
	if len(b) == 0 {
		if last && !r.o.s.cut { // only the end is missing
			r.close()
			return 0, whole, false
		}
		return 0, more, false
	}
	if f := object(b); f != misses && len(r.keys) == 0 && !r.closed {
		if f == may && !last {
			return 0, more, false
		}
		r.object, r.at, r.began = value{out: r.object.out[:0]}, inObject, true
		return 0, more, true
	}
	t, n, f := r.tag(b, last)
	switch {
	case f == may:
		return 0, more, false
	case t == closesCall:
		r.close()
		r.at = inTail
		return n, whole, r.inner
	case t == closesOuter, t == opensOuter:
		r.close()
		return 0, whole, false
	case t == closesArg:
		return n, more, true
	case t == opensBody && len(r.keys) == 0:
		return n, more, true
	case t == opensArg && !r.closed:
		return n, more, r.argument()
	case last && r.partial(b):
		return len(b), more, false
	case t == noTag && r.spec.Arg.Nested && len(r.keys) == 0 && !r.closed:
		if n, f := r.orphan(b, last); f == fits {
			return n, more, true
		} else if f == may {
			return 0, more, false
		}
	}
	r.close()
	return 0, broken, false
}

// tag reads the tag at the beginning of b. That of an argument is read with
// its key, which is left in r.key.
func (r *tagged) tag(b []byte, last bool) (tag, int, fit) {
	if !r.begins(b) {
		return noTag, 0, misses
	}
	for _, k := range [...]struct {
		t tag
		m Marks
	}{
		{opensBody, r.spec.Arg.Body.Open},
		{closesArg, r.spec.Arg.Body.Close},
		{closesCall, r.spec.Call.Close},
		{closesOuter, r.shut},
		{opensOuter, r.opens},
		{closesArg, r.spec.Arg.Close},
	} {
		n, f := r.h.any(k.m, b, last)
		if f != misses {
			return k.t, n, f
		}
	}
	n, f := r.h.any(r.spec.Arg.Open, b, last)
	if f != fits {
		return noTag, 0, f
	}
	at, k, f := r.h.until(r.spec.Arg.Mid, b[n:], last)
	if f != fits {
		return noTag, 0, f
	}
	key := r.trim(b[n : n+at])
	if len(key) == 0 || key[0] == '/' {
		return noTag, 0, misses
	}
	r.key = append(r.key[:0], key...)
	return opensArg, n + at + k, fits
}

// begins reports whether the first two bytes of b can be those of a tag.
func (r *tagged) begins(b []byte) bool {
	return r.first.first[b[0]] && (len(b) == 1 || r.second[b[1]])
}

// partial reports whether all of b is the beginning of a tag.
func (r *tagged) partial(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	_, _, f := r.tag(b, false)
	return f == may
}

// trim is a name or key without what may stand around it.
func (r *tagged) trim(text []byte) []byte {
	text = bytes.Trim(text, " \t\r\n\"'")
	if bytes.IndexByte(text, '&') >= 0 && r.attributes() {
		text = bytes.ReplaceAll(text, []byte("&quot;"), []byte(`"`))
		text = bytes.ReplaceAll(text, []byte("&amp;"), []byte("&"))
	}
	return text
}

// attributes reports whether tags escape what stands in them.
func (r *tagged) attributes() bool {
	return slices.ContainsFunc(r.spec.Arg.Mid, func(m string) bool { return strings.Contains(m, "{type}") })
}

// close writes the end of the arguments.
func (r *tagged) close() {
	if !r.began {
		r.json = append(r.json, '{')
	}
	if !r.closed {
		r.json = append(r.json, '}')
	}
	r.began, r.closed = true, true
	r.flush()
}

// flush hands on arguments.
func (r *tagged) flush() {
	if len(r.json) > 0 && !r.mute() {
		r.o.args(r.json)
	}
	r.json = r.json[:0]
}

// mute reports whether what is read now is dropped.
func (r *tagged) mute() bool { return r.at == inValue && r.args.drop }

// finish ends what is open. What breaks off within a value is flagged.
func (r *tagged) finish(cut bool) bool {
	if r.at == inPlain {
		return r.plain.finish(cut)
	}
	if r.at == inName && len(r.called) > 0 {
		if _, ok := r.offered.find(string(r.called)); ok && !cut || r.ended && r.sure() {
			r.say()
		}
	}
	switch {
	case !r.o.said && (r.at < inFollow || !r.sure()):
		return false
	case !r.o.said:
		r.say()
	}
	if cut || r.closed {
		return true
	}
	switch r.at {
	case inValue:
		r.o.flaw(turn.Repaired)
		r.endAll()
	case inObject:
		r.o.flaw(turn.Repaired)
		r.object.finish()
		r.json = append(r.json, r.object.take()...)
		r.closed = true
	}
	r.close()
	return true
}
