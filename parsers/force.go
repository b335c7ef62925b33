package parsers

import (
	"encoding/json"
	"strings"
)

// Opening returns the text with which an answer begins that is a call: of the
// named tool, or of any when name is "". Put behind the prompt, it leaves the
// model nothing else to say. It is "" for a format that has no such text.
func (f *Format) Opening(name string) string {
	if !f.forced() {
		return ""
	}
	return f.calling.opening(name)
}

// Closing returns the text that goes behind the arguments of a call that was
// begun with the Opening of a named tool; "" for a format without one, and for
// one whose arguments are not JSON.
func (f *Format) Closing() string {
	if !f.forced() {
		return ""
	}
	return f.calling.closing()
}

// CallEnd returns the text that ends a call, "" when the format has none. As a
// stop string it holds an answer to one call.
func (f *Format) CallEnd() string {
	if !f.forced() {
		return ""
	}
	return f.calling.callEnd()
}

// forced reports whether the beginning and end of a call can be told.
func (f *Format) forced() bool { return f.Calls() && f.calling.Frame == nil }

// opening is Opening of one spec.
func (s *Spec) opening(name string) string {
	open := s.Section.Open.usual() + s.Call.Open.usual()
	if strings.Contains(open, "{") {
		return "" // an id stands before the name
	}
	switch s.Grammar {
	case JSONCall:
		return s.openingJSON(open, name)
	case NameJSON, Tagged:
		end := s.nameEnd()
		if open += s.Call.Prefix; name == "" {
			return open
		}
		if s.Call.ID != "" || end == "" {
			return "" // what follows the name is not certain
		}
		return open + name + end
	}
	return ""
}

// openingJSON is opening for calls that are JSON as a whole.
func (s *Spec) openingJSON(open, name string) string {
	keys := s.JSON.filled()
	switch {
	case s.Call.Fence || open == "" && !s.Bare:
		return ""
	case s.Bare:
		open = "" // a marker is the exception
	case s.wrapped():
		open += "\n"
	}
	if keys.Container == "list" {
		open += "["
	}
	if name == "" {
		return open
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return ""
	}
	if keys.NameIsKey {
		return open + "{" + string(quoted) + ": "
	}
	return open + `{"` + keys.Name + `": ` + string(quoted) + `, "` + keys.Args[0] + `": `
}

// wrapped reports whether each call stands on lines of its own between two
// markers.
func (s *Spec) wrapped() bool {
	return s.JSON.Container != "list" && s.Call.Open.usual()+s.Section.Open.usual() != "" && s.Call.Close.usual()+s.Section.Close.usual() != ""
}

// nameEnd is what ends a name, where that is the same in every call.
func (s *Spec) nameEnd() string {
	for _, t := range s.Call.NameEnd {
		if !strings.Contains(t, "{") {
			return t
		}
	}
	if s.Call.Fence {
		return "\n```json\n"
	}
	return ""
}

// closing is Closing of one spec.
func (s *Spec) closing() string {
	if !s.json() || s.opening("x") == "" {
		return ""
	}
	end := s.Call.Close.usual() + s.Section.Close.usual()
	if s.Grammar == NameJSON {
		if s.Call.Fence {
			end = "\n```" + end
		}
		return end
	}
	switch {
	case s.JSON.Container == "list":
		return "}]" + end
	case s.wrapped():
		return "}\n" + end
	}
	return "}" + end
}

// callEnd is CallEnd of one spec.
func (s *Spec) callEnd() string {
	switch s.Grammar {
	case JSONCall:
		if s.JSON.Container == "list" || s.JSON.Container == "lines" {
			return ""
		}
	case NameJSON, Tagged:
	default:
		return ""
	}
	return s.Call.Close.usual()
}

// usual is the first spelling, "" where there is none.
func (m Marks) usual() string {
	if len(m) == 0 {
		return ""
	}
	return m[0]
}
