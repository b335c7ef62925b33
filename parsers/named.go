package parsers

import (
	"bytes"

	"github.com/agentinfer/dyn/turn"
)

// namedReader reads calls whose name stands outside of the arguments, which
// are a JSON object.
type namedReader struct {
	o       *out
	spec    *Spec
	offered *tools
	head    header
	json    *jsonReader // of calls in the form of json_call
	closer  Marks

	at   namedPart
	v    value
	text bool // the arguments came as a string that holds them
}

// namedPart is where in a call a namedReader is.
type namedPart uint8

const (
	namedHead namedPart = iota
	namedOpen
	namedArgs
	namedJSON // in a call of the other form
	namedPast
)

// newNamedReader returns the reader of a spec.
func newNamedReader(spec *Spec, offered *tools) *namedReader {
	r := &namedReader{spec: spec, offered: offered, json: newJSONReader(spec)}
	r.closer = r.json.closer
	return r
}

func (r *namedReader) begin(o *out) {
	if o.again {
		r.at = namedJSON
		r.json.begin(o)
		return
	}
	r.o, r.at, r.text = o, namedHead, false
	r.head.begin(r.spec, o.open)
	r.json.begin(o)
	r.v.reset()
}

func (r *namedReader) read(b []byte, last bool) (n int, p progress) {
	for {
		k, p := r.step(b[n:], last)
		n += k
		if p != whole || r.at == namedPast || r.at == namedJSON {
			return n, p
		}
	}
}

// step reads one part; whole says that the next one follows.
func (r *namedReader) step(b []byte, last bool) (int, progress) {
	switch r.at {
	case namedHead:
		if r.head.fresh() && r.spec.Call.ID == "" {
			w := len(b) - len(bytes.TrimLeft(b, spaces))
			if w == len(b) {
				return w, more
			}
			if b[w] == '{' || b[w] == '[' {
				r.at = namedJSON
				return r.json.read(b, last)
			}
		}
		n, p := r.head.read(b, last)
		if p == whole {
			r.at = namedOpen
		}
		return n, p
	case namedOpen:
		return r.opening(b, last)
	case namedArgs:
		return r.value(b, last)
	}
	return r.json.read(b, last)
}

// opening reads what stands before the arguments.
func (r *namedReader) opening(b []byte, last bool) (n int, p progress) {
	for n < len(b) {
		c := b[n]
		switch {
		case isSpace(c):
			n++
			continue
		case c == '{' || c == '"' || c == 'n':
			r.at = namedArgs
			if c == '{' {
				r.name()
			}
			return n, whole
		case c == '`' && r.spec.Call.Fence:
			k, wait := meets(b[n:], last, fences)
			if wait || !last && begun(b[n:], "```json") {
				return n, more
			}
			if k > 0 {
				n += k
				continue
			}
		}
		k, wait := meets(b[n:], last, r.closer)
		if wait {
			return n, more
		}
		if k == 0 {
			return n, broken
		}
		r.name() // and no arguments at all
		r.o.args([]byte("{}"))
		r.at = namedPast
		return n, whole
	}
	return n, more
}

// name says the name.
func (r *namedReader) name() {
	name, id := r.head.call(r.offered)
	r.o.name(name, id)
}

// value reads the arguments.
func (r *namedReader) value(b []byte, last bool) (n int, p progress) {
	defer r.hand()
	for n < len(b) {
		if r.o.said && r.v.at == inString && r.v.fed == '\n' {
			k, wait := meets(b[n:], last, r.closer)
			if wait {
				return n, more
			}
			if k > 0 {
				return n, broken
			}
		}
		k, said := r.v.run(b[n:])
		n += k
		switch said {
		case took:
			if !r.o.said && len(r.v.out) > maxRaw {
				return n, broken
			}
		case done:
			return n, r.end()
		case past:
			return n, r.end()
		default:
			return n, broken
		}
	}
	return n, more
}

// end takes in arguments that are whole.
func (r *namedReader) end() progress {
	if !r.o.said {
		c := call{keys: r.json.call.keys}
		if !c.unwrap(r.v.take()) {
			return broken
		}
		r.name()
		r.o.args(c.take())
		r.o.flaw(turn.Repaired)
	}
	r.at = namedPast
	return whole
}

// hand hands on what is settled of the arguments.
func (r *namedReader) hand() {
	if !r.o.said {
		return
	}
	r.o.args(r.v.take())
	if r.v.fixed {
		r.o.flaw(turn.Repaired)
	}
}

func (r *namedReader) finish(cut bool) bool {
	switch r.at {
	case namedJSON:
		return r.json.finish(cut)
	case namedHead:
		if !r.head.done {
			return false
		}
		r.head.id = r.head.id[:0] // it may be half of one
		fallthrough
	case namedOpen:
		r.name()
		if !cut {
			r.o.args([]byte("{}"))
		}
	case namedArgs:
		if !r.o.said {
			r.v.finish()
			return r.end() == whole
		}
		if !cut {
			r.v.finish()
			r.hand()
		}
	}
	return r.o.said
}

// next looks for the next call of a list, where calls stand in one.
func (r *namedReader) next(b []byte, last bool) (n int, p progress) {
	if r.at != namedJSON {
		return 0, broken
	}
	return r.json.next(b, last)
}
