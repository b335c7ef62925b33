package parsers

import (
	"bytes"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// body reads the body of a call in a message: a JSON object. Any other text,
// such as code for a built-in tool, becomes the value of the tool's only
// argument.
type body struct {
	o    *out
	on   *tools
	ends Marks // of messages

	at   bodyAt
	v    value
	call string
}

// bodyAt is where in a body it is.
type bodyAt uint8

const (
	bodyStart bodyAt = iota
	bodyObject
	bodyText
	bodyEnd
)

// newBody returns a reader of bodies of JSON.
func newBody(spec *Spec, on *tools) *body {
	b := &body{on: on}
	if spec.Frame != nil {
		b.ends = append(append(b.ends, spec.Frame.End...), spec.Frame.Open...)
	}
	return b
}

func (r *body) begin(o *out) {
	r.o, r.at = o, bodyStart
	r.v.reset()
}

// named says the name that the header told.
func (r *body) named(name, id string) {
	r.call = name
	r.o.name(name, id)
}

func (r *body) read(b []byte, last bool) (n int, p progress) {
	if r.at == bodyStart {
		w := len(b) - len(trimmed(b))
		if w == len(b) {
			return w, more
		}
		if p := r.start(b[w:], last); p != whole {
			return w, p
		}
		n = w
	}
	switch r.at {
	case bodyText:
		k, p := r.text(b[n:], last)
		return n + k, p
	case bodyEnd:
		return n, whole
	}
	k, p := r.object(b[n:], last)
	return n + k, p
}

// start looks at what the body begins with.
func (r *body) start(b []byte, last bool) progress {
	k, soon := meets(b, last, r.ends)
	switch {
	case soon:
		return more
	case k > 0: // nothing at all
		r.o.args([]byte("{}"))
		r.at = bodyEnd
	case b[0] == '{':
		r.at = bodyObject
	default:
		r.at = bodyText
		r.o.flaw(turn.Repaired)
		r.o.args(append(appendString([]byte{'{'}, []byte(r.key())), ':', '"'))
	}
	return whole
}

// key is the argument that text is the value of.
func (r *body) key() string {
	names := r.on.fields(r.call)
	switch {
	case len(names) == 1:
		return names[0]
	case strings.HasSuffix(r.call, "python"):
		return "code"
	}
	return "input"
}

// object reads a JSON object. A marker of the message's end may stand in a
// string of it; where nothing follows it, the end of the string is missing.
func (r *body) object(b []byte, last bool) (n int, p progress) {
	defer r.hand()
	for n < len(b) {
		if r.v.at == inString {
			k, said := r.ending(b[n:], last, false)
			switch said {
			case wait:
				return n, more
			case yes:
				return n, broken
			}
			if k = r.v.plain(b[n : n+k]); k > 0 {
				n += k
				continue
			}
		}
		switch r.v.feed(b[n]) {
		case took:
			n++
		case done:
			r.at = bodyEnd
			return n + 1, whole
		default:
			return n, broken
		}
	}
	return n, more
}

// hand hands on what is settled of the object.
func (r *body) hand() {
	r.o.args(r.v.take())
	if r.v.fixed {
		r.o.flaw(turn.Repaired)
	}
}

// ending looks for the end of the message: else n bytes are not part of one.
// With next the beginning of another message may follow it, too.
func (r *body) ending(b []byte, last, next bool) (n int, said guess) {
	if n = bytes.IndexByte(b[:min(len(b), maxAhead)], '<'); n < 0 {
		return min(len(b), maxAhead), no
	} else if n > 0 {
		return n, no
	}
	k, soon := meets(b, last, r.ends)
	if soon {
		return 0, wait
	}
	rest := trimmed(b[k:])
	switch {
	case k == 0 || len(b)-len(rest) > maxAhead:
		return 1, no
	case len(rest) == 0:
		return 0, short(last)
	case !next:
		return 1, no
	}
	k, soon = meets(rest, last, r.ends)
	switch {
	case soon:
		return 0, wait
	case k > 0:
		return 0, yes
	}
	return 1, no
}

// text reads a body that is no JSON.
func (r *body) text(b []byte, last bool) (n int, p progress) {
	for n < len(b) {
		k, said := r.ending(b[n:], last, true)
		switch said {
		case wait:
			return n, more
		case yes:
			r.o.args([]byte(`"}`))
			r.at = bodyEnd
			return n, whole
		}
		r.o.args(appendText(nil, b[n:n+k]))
		n += k
	}
	return n, more
}

func (r *body) finish(cut bool) bool {
	if cut || r.at == bodyEnd {
		return true
	}
	switch r.at {
	case bodyStart:
		r.o.args([]byte("{}"))
	case bodyText:
		r.o.args([]byte(`"}`))
	default:
		r.v.finish()
		r.hand()
	}
	r.at = bodyEnd
	return true
}
