package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// tools returns the functions; tools of other types are dropped.
func (r *chatReader) tools(root tape.Value) []turn.Tool {
	var set toolSet
	for _, v := range r.field(root, "tools", tape.Array).Elements() {
		if v.Kind() != tape.Object {
			r.fail(v, "must be an object, not %s", kindName(v.Kind()))
		}
		if r.failed() {
			return nil
		}
		if kind := r.text(v, "type"); kind != "" && kind != "function" {
			continue
		}
		f := r.field(v, "function", tape.Object)
		if f.Kind() == tape.None {
			r.lacks(v, "function")
			return nil
		}
		t := r.tool(f, "parameters")
		t.Lease = max(r.lease(v), r.lease(f))
		set.add(&r.reader, v, t)
	}
	return set.list
}

// choice reads tool_choice. A set of allowed tools leaves it to the model.
func (r *chatReader) choice(t *turn.Turn, root tape.Value) {
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
