package dialect

import (
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// function reads the fields that tools have in every dialect; schema is the
// name of the one that holds the arguments' schema, "" for tools without.
// Fields that are not known are ignored, whoever may know them.
func (r *reader) function(v tape.Value, schema string) turn.Tool {
	t := turn.Tool{Name: r.needed(v, "name"), Description: r.text(v, "description")}
	t.Bare, t.Strict = t.Name, r.flag(v, "strict")
	if len(t.Name) > nameMost {
		r.fail(v.Key("name"), "must be at most %d bytes long", nameMost)
	}
	if schema == "" {
		return t
	}
	if s := r.field(v, schema, tape.Object); s.Kind() != tape.None {
		t.Schema = s.Bytes()
	}
	return t
}

// nameMost bounds the names of tools; the APIs themselves allow 64 or 128.
const nameMost = 256

// toolsMost bounds the tools of a turn; the APIs themselves allow 128.
const toolsMost = 2048

// toolSet gathers tools under unique names.
type toolSet struct{ list []turn.Tool }

// add adds a tool. A tool that is there already is not added again; another
// one of the same flat name gets a number, so that names stay reversible.
func (s *toolSet) add(r *reader, v tape.Value, t turn.Tool) {
	if len(s.list) == toolsMost {
		r.fail(v, "more than %d tools", toolsMost)
		return
	}
	flat := t.Name
	for n := 2; ; n++ {
		old, taken := findTool(s.list, t.Name)
		if !taken {
			break
		}
		if old.Namespace == t.Namespace && old.Bare == t.Bare {
			return
		}
		t.Name = flat + "_" + strconv.Itoa(n)
	}
	s.list = append(s.list, t)
}

func findTool(tools []turn.Tool, name string) (turn.Tool, bool) {
	for i := range tools {
		if tools[i].Name == name {
			return tools[i], true
		}
	}
	return turn.Tool{}, false
}

// meant returns the tool that a model means by a name: the flat form, the
// dotted form, or the bare name when only one namespace has it.
func meant(tools []turn.Tool, name string) (turn.Tool, bool) {
	if t, ok := findTool(tools, name); ok {
		return t, true
	}
	var found turn.Tool
	n := 0
	for _, t := range tools {
		if t.Namespace == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(name, t.Namespace); ok && rest == "."+t.Bare {
			return t, true
		}
		if t.Bare == name {
			found, n = t, n+1
		}
	}
	return found, n == 1
}

// flatName returns the flat form of a name in a namespace, for calls that are
// replayed. The tool may be gone: a client that compacts sends none.
func flatName(tools []turn.Tool, namespace, bare string) string {
	if namespace == "" {
		return bare
	}
	for i := range tools {
		if t := &tools[i]; t.Namespace == namespace && t.Bare == bare {
			return t.Name
		}
	}
	return namespace + "__" + bare
}

// require notes that a call is a must, which at says. With no tools at all
// that is a problem, as it is with the vendors; hosted ones, which are dropped,
// leave it to the model.
func (r *reader) require(t *turn.Turn, at tape.Value) {
	switch {
	case len(t.Tools) > 0:
		t.ToolChoice.Mode = "required"
	case r.offer.tools > 0:
	case r.dialect == turn.Messages:
		r.fail(at, "may only be specified while providing tools")
	default:
		r.fail(at, "is only allowed when 'tools' are specified")
	}
}

// name notes that the tool of this flat name must be called; at is where the
// client says so.
func (r *reader) name(t *turn.Turn, at tape.Value, name string) {
	if _, ok := findTool(t.Tools, name); !ok {
		r.fail(at, "no tool is named '%s'", cut(name))
		return
	}
	t.ToolChoice = turn.ToolChoice{Mode: "named", Name: name}
}
