package parsers

import (
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// jsonReader reads calls that are an object with a name and arguments, alone
// or as items of a list.
type jsonReader struct {
	o      *out
	call   call
	closer Marks // of a call
	fence  bool  // a Markdown fence may stand before it
	list   bool  // in a list
	began  bool  // the object has begun
}

// newJSONReader returns the reader of a spec.
func newJSONReader(spec *Spec) *jsonReader {
	keys := spec.JSON.filled()
	return &jsonReader{
		call:   call{keys: &keys},
		closer: slices.Concat(spec.Call.Close, spec.Section.Close),
		fence:  spec.Call.Fence,
	}
}

// filled puts in the keys that a spec leaves out.
func (j JSON) filled() JSON {
	if j.Name == "" {
		j.Name = "name"
	}
	if len(j.Args) == 0 {
		j.Args = Marks{"arguments", "parameters"}
	}
	return j
}

// knows reports whether a call that needs no marker may begin with a key.
func (j *JSON) knows(key string) bool {
	return j.NameIsKey || key == j.Name || key == "type" || key == "function" || key == "id" || key == j.ID || slices.Contains(j.Args, key)
}

func (r *jsonReader) begin(o *out) {
	r.list = r.list && o.again
	r.o, r.began = o, false
	r.call.reset(o.bare)
}

func (r *jsonReader) read(b []byte, last bool) (n int, p progress) {
	if !r.began {
		if n, p = r.opening(b, last); !r.began {
			return n, p
		}
	}
	for n < len(b) {
		if r.call.stuck() {
			k, wait := meets(b[n:], last, r.closer)
			if wait {
				break
			}
			if k > 0 {
				return n, r.broken(b[n:], last)
			}
		}
		k, said := r.call.run(b[n:])
		n += k
		switch said {
		case bad:
			return n, r.broken(b[n:], last)
		case done:
			r.announce()
			return n, whole
		}
		if r.call.bare && r.call.name != "" && !r.o.s.offered.has(r.call.name) {
			return n, broken
		}
	}
	r.announce()
	return n, more
}

// opening reads up to the brace of the object.
func (r *jsonReader) opening(b []byte, last bool) (n int, p progress) {
	for n < len(b) {
		switch c := b[n]; {
		case isSpace(c):
			n++
		case c == '{':
			r.began = true
			return n, more
		case c == '[' && !r.list:
			r.list = true
			n++
		case c == '`' && r.fence && !r.list:
			k, wait := meets(b[n:], last, fences)
			if wait || !last && hasPrefix(b[n:], "```") && begun(b[n:], "```json") {
				return n, more
			}
			if k == 0 {
				return n, broken
			}
			n += k
		default:
			return n, broken
		}
	}
	return n, more
}

// fences open a Markdown fence around JSON.
var fences = Marks{"```json", "```"}

// announce hands on what is settled of the call.
func (r *jsonReader) announce() {
	c := &r.call
	if !r.o.said {
		if !c.ready() {
			return
		}
		r.o.name(c.name, c.id)
	}
	r.o.args(c.take())
	if c.fixed || c.begun && !c.whole && c.v.fixed {
		r.o.flaw(turn.Repaired)
	}
}

// broken says what a call is where no JSON goes on: one that only lacks its
// end is whole.
func (r *jsonReader) broken(b []byte, last bool) progress {
	r.announce()
	c := &r.call
	if r.o.said {
		return broken
	}
	if c.bare || c.name == "" || c.busy && c.is == other {
		return broken
	}
	switch n, wait := meets(b, last, r.closer); {
	case wait:
		return more
	case n == 0:
		return broken
	}
	r.o.flaw(turn.Repaired)
	r.finish(false)
	return whole
}

func (r *jsonReader) finish(cut bool) bool {
	if !r.began || r.call.bare && !r.call.begun || !r.call.finish(cut) {
		return false
	}
	r.announce()
	return r.o.said
}

// next looks for another object: the next item of the list, or one that
// stands right behind the last.
func (r *jsonReader) next(b []byte, last bool) (n int, p progress) {
	for n < len(b) {
		switch c := b[n]; {
		case (isSpace(c) || c == ',' || c == ';' && !r.list) && n < maxWhite:
			n++
		case c == '{':
			return n, whole
		case c == ']' && r.list:
			r.list = false
			return n + 1, broken
		default:
			r.list = false
			return 0, broken
		}
	}
	if last {
		return 0, broken
	}
	return 0, more
}
