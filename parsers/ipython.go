package parsers

import (
	"bytes"
	"strings"
)

// pythonTag is the marker of Llama's calls of built-in tools.
const pythonTag = "<|python_tag|>"

// ipython reads calls in JSON, and behind a marker those of Llama's built-in
// tools, which are written in Python's syntax: brave_search.call(query="x").
// Other code behind the marker is text.
type ipython struct {
	*jsonReader
	o      *out
	on     *tools
	python *python
	code   bool // the call is in Python's syntax
	judged bool
}

// newIPython returns the reader of a spec.
func newIPython(spec *Spec, on *tools) *ipython {
	return &ipython{jsonReader: newJSONReader(spec), on: on, python: newPython(spec, on)}
}

func (r *ipython) begin(o *out) {
	r.o, r.code, r.judged = o, false, o.bare || o.again
	r.jsonReader.begin(o)
}

func (r *ipython) read(b []byte, last bool) (int, progress) {
	if !r.judged {
		n, said := r.judge(b, last)
		if said == wait {
			return n, more
		}
		b, r.judged = b[n:], true
		if r.code = said == yes; r.code {
			r.python.begin(r.o)
		}
		k, p := r.read(b, last)
		return n + k, p
	}
	if r.code {
		return r.python.read(b, last)
	}
	return r.jsonReader.read(b, last)
}

// judge says whether a call in Python's syntax stands behind white space.
func (r *ipython) judge(b []byte, last bool) (int, guess) {
	w := blank(b)
	if w == len(b) {
		return w, unless(last)
	}
	n, said := callName(b[w:], last)
	if said != yes {
		return w, said
	}
	name := string(bytes.TrimRight(b[w:w+n-1], spaces))
	if strings.HasSuffix(name, ".call") || r.on.has(name) {
		return w, yes
	}
	return w, no
}

func (r *ipython) finish(cut bool) bool {
	if r.code {
		return r.python.finish(cut)
	}
	return r.jsonReader.finish(cut)
}

func (r *ipython) next(b []byte, last bool) (int, progress) {
	if r.code {
		return 0, broken
	}
	return r.jsonReader.next(b, last)
}
