package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// tool appends a function; tools of other types are dropped.
func (r *chatReader) tool(set *toolSet, v tape.Value) {
	if kind := r.text(v, "type"); kind != "" && kind != "function" {
		return
	}
	f := r.field(v, "function", tape.Object)
	if f.Kind() == tape.None {
		r.lacks(v, "function")
		return
	}
	t := r.function(f, "parameters")
	t.Lease = max(r.lease(v), r.lease(f))
	set.add(r.reader, v, t)
}

// rest reads tool_choice. A set of allowed tools leaves it to the model.
func (r *chatReader) rest(t *turn.Turn, root tape.Value) {
	v := root.Key("tool_choice")
	if v.Kind() == tape.String {
		r.mode(t, v)
		return
	}
	v = r.field(root, "tool_choice", tape.Object)
	if r.text(v, "type") != "function" {
		return
	}
	f := r.field(v, "function", tape.Object)
	if f.Kind() == tape.None {
		r.lacks(v, "function")
		return
	}
	name := r.needed(f, "name")
	r.name(t, f.Key("name"), name)
}
