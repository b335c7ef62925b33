package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// placeholderTool is a tool that Claude Code sends only to keep deferral on.
const placeholderTool = "DeferredToolPlaceholder"

// tool appends a tool. Typed tools run at Anthropic and are dropped, with or
// without a schema. Only defer_loading defers a tool; no beta does.
func (r *messagesReader) tool(set *toolSet, v tape.Value) {
	if kind := r.text(v, "type"); kind != "" && kind != "custom" {
		return
	}
	t := r.function(v, "input_schema")
	t.Lease = r.lease(v)
	t.Deferred = r.flag(v, "defer_loading")
	if t.Deferred && t.Name == placeholderTool {
		return
	}
	set.add(r.reader, v, t)
}

// addition returns a tool_addition: the client's JSON, and the tool's name
// when it names one or brings its definition.
func (r *messagesReader) addition(b tape.Value) turn.Block {
	kept := r.kept(turn.Other, b)
	tool := b.Key("tool")
	if tool.Key("type").Text() == "tool_definition" {
		tool = tool.Key("definition")
	}
	if name := tool.Key("name").Text(); name != "" {
		kept.Refs = []string{name}
	}
	return kept
}

// inline adds the tools that messages define by value, hidden until there.
func (r *messagesReader) inline(t *turn.Turn) {
	set := toolSet{list: t.Tools}
	for i := range t.Messages {
		if t.Messages[i].Role != turn.System {
			continue
		}
		for _, b := range t.Messages[i].Blocks {
			if b.Kind == turn.Other && len(b.Refs) == 1 {
				r.defined(&set, b)
			}
		}
	}
	t.Tools = set.list
}

// defined adds the tool that a tool_addition defines, if it does.
func (r *messagesReader) defined(set *toolSet, b turn.Block) {
	if _, known := findTool(set.list, b.Refs[0]); known {
		return
	}
	nested(string(b.Raw), func(root tape.Value) {
		def := root.Key("tool").Key("definition")
		if kind := def.Key("type").Text(); def.Kind() != tape.Object || kind != "" && kind != "custom" {
			return
		}
		inner := &reader{}
		if t := inner.function(def, "input_schema"); !inner.failed() {
			t.Deferred = true
			set.add(r.reader, tape.Value{}, t)
		}
	})
}

// rest reads tool_choice. A tool that is deferred may be named too.
func (r *messagesReader) rest(t *turn.Turn, root tape.Value) {
	r.inline(t)
	v := r.field(root, "tool_choice", tape.Object)
	if v.Kind() == tape.None {
		return
	}
	t.OneCall = r.flag(v, "disable_parallel_tool_use")
	switch kind := r.needed(v, "type"); kind {
	case "auto", "none":
		t.ToolChoice.Mode = kind
	case "any":
		r.require(t, v)
	case "tool":
		r.name(t, v.Key("name"), r.needed(v, "name"))
	default:
		r.fail(v.Key("type"), "must be 'auto', 'any', 'tool' or 'none', not '%s'", cut(kind))
	}
}

// thinking reads the switch. The API thinks only when it is told to; a budget
// is no limit here, so that one over max_tokens does no harm.
func (r *messagesReader) thinking(t *turn.Turn, root tape.Value) {
	v := r.field(root, "thinking", tape.Object)
	t.Thinking.Mode = "off"
	switch r.text(v, "type") {
	case "enabled", "adaptive", "between_tools":
		t.Thinking.Mode = "on"
	}
	t.Thinking.Omitted = r.text(v, "display") == "omitted"
}
