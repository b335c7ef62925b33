package server

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/server/completion"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// endpoint is one thing that clients can ask for. The table of them in
// table.go is all there is: requests find their handler in it, and
// /openapi.json is written from it.
type endpoint struct {
	method  string // "GET" takes HEAD too
	path    string // "{id}" stands for one or more segments
	dialect turn.Dialect
	open    bool // needs no key
	counts  bool // makes no turn, and is one of the requests that a key may make
	do      func(*Server, *call) error

	says string // one line for people
	in   string // what the body is like, a type of package openapi; "" is none
	out  string // what the answer is like
	flow string // what the events of a streamed answer are like
	kind string // content type of the answer when it is no JSON

	query []string // what is read behind the path's ?
}

// takes reports whether a method is the endpoint's.
func (e *endpoint) takes(method string) bool { return slices.Contains(e.methods(), method) }

// methods are those that the endpoint takes.
func (e *endpoint) methods() []string {
	if e.method == "GET" {
		return []string{"GET", "HEAD"}
	}
	return []string{e.method}
}

// codecOf is the codec of a dialect that has one.
func codecOf(d turn.Dialect) dialect.Codec {
	if d == turn.Completions {
		return completion.Codec{}
	}
	return dialect.For(d)
}

// routing finds the endpoints of a path. It is made once.
type routing struct {
	exact map[string][]*endpoint
	parts []*endpoint // paths with an {id}, longer ones first
}

func newRouting(table []endpoint) *routing {
	r := &routing{exact: map[string][]*endpoint{}}
	for i := range table {
		e := &table[i]
		if strings.Contains(e.path, "{id}") {
			r.parts = append(r.parts, e)
			continue
		}
		r.exact[e.path] = append(r.exact[e.path], e)
	}
	slices.SortStableFunc(r.parts, func(a, b *endpoint) int { return len(b.path) - len(a.path) })
	return r
}

// find returns the endpoints of a path, one for each method.
func (r *routing) find(path string) []*endpoint {
	if es := r.exact[path]; es != nil {
		return es
	}
	var found []*endpoint
	for _, e := range r.parts {
		if _, ok := e.id(path); ok && (len(found) == 0 || found[0].path == e.path) {
			found = append(found, e)
		}
	}
	return found
}

// id is the part of a path that stands at the endpoint's {id}.
func (e *endpoint) id(path string) (string, bool) {
	head, tail, ok := strings.Cut(e.path, "{id}")
	if !ok {
		return "", false
	}
	rest, ok := strings.CutPrefix(path, head)
	if !ok {
		return "", false
	}
	id, ok := strings.CutSuffix(rest, tail)
	return id, ok && id != ""
}
