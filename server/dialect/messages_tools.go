package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// placeholderTool is a tool that Claude Code sends only to keep deferral on.
const placeholderTool = "DeferredToolPlaceholder"

// expandedMost bounds what all tool references of a body expand to, in bytes.
const expandedMost = 4 << 20

// tools returns the tools that the model sees from the start and keeps the
// definitions of deferred ones. Typed tools run at Anthropic and are dropped,
// with or without a schema.
func (r *messagesReader) tools(root tape.Value) []turn.Tool {
	var set toolSet
	for _, v := range r.field(root, "tools", tape.Array).Elements() {
		if v.Kind() != tape.Object {
			r.fail(v, "must be an object, not %s", kindName(v.Kind()))
		}
		if r.failed() {
			return nil
		}
		if kind := r.text(v, "type"); kind != "" && kind != "custom" {
			continue
		}
		tool := r.tool(v, "input_schema")
		tool.Lease = r.lease(v)
		if !r.flag(v, "defer_loading") {
			set.add(&r.reader, v, tool)
			continue
		}
		if tool.Name != placeholderTool {
			if r.deferred == nil {
				r.deferred = map[string]turn.Tool{}
			}
			r.deferred[tool.Name] = tool
		}
	}
	return set.list
}

// reference returns what a tool_reference stands for: the tool's definition,
// in the form that Claude Code's ToolSearch promises to its model.
func (r *messagesReader) reference(v tape.Value) string {
	name := r.needed(v, "tool_name")
	tool, ok := r.deferred[name]
	if !ok {
		return "<functions>" + name + "</functions>"
	}
	r.expanded += len(tool.Description) + len(tool.Schema)
	if r.expanded > expandedMost {
		r.fail(v, "references to tools expand to more than %d MiB", expandedMost>>20)
		return ""
	}
	b := appendString([]byte(`<functions>`+"\n"+`<function>{"description":`), tool.Description)
	b = appendString(append(b, `,"name":`...), tool.Name)
	b = append(b, `,"parameters":`...)
	if tool.Schema == nil {
		b = append(b, "{}"...)
	}
	b = append(b, tool.Schema...)
	return string(append(b, "}</function>\n</functions>"...))
}

// choice reads tool_choice. A tool that is deferred may be named too.
func (r *messagesReader) choice(t *turn.Turn, root tape.Value) {
	v := r.field(root, "tool_choice", tape.Object)
	if v.Kind() == tape.None {
		return
	}
	t.OneCall = r.flag(v, "disable_parallel_tool_use")
	switch kind := r.needed(v, "type"); kind {
	case "auto", "none":
		t.ToolChoice.Mode = kind
	case "any":
		r.require(t)
	case "tool":
		name := r.needed(v, "name")
		if _, ok := r.deferred[name]; ok {
			t.ToolChoice = turn.ToolChoice{Mode: "named", Name: name}
			return
		}
		r.name(t, v.Key("name"), name)
	default:
		r.fail(v.Key("type"), "must be 'auto', 'any', 'tool' or 'none', not '%s'", cut(kind))
	}
}

// thinking reads thinking and effort. The API thinks only when it is told to.
func (r *messagesReader) thinking(t *turn.Turn, root tape.Value) {
	v := r.field(root, "thinking", tape.Object)
	t.Thinking.Mode = "off"
	switch r.text(v, "type") {
	case "enabled", "adaptive", "between_tools":
		t.Thinking.Mode = "on"
	}
	t.Thinking.Omitted = r.text(v, "display") == "omitted"
	t.Thinking.Effort = r.text(r.field(root, "output_config", tape.Object), "effort")
}
