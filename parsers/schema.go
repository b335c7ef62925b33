package parsers

import (
	"encoding/json"
	"strings"

	"github.com/agentinfer/dyn/turn"
)

// tools are the tools on offer and what their arguments may be. Schemas are
// read when a call first needs them. It belongs to one Stream.
type tools struct {
	list []turn.Tool
	read map[string]*schema
}

// newTools returns the tools of one turn.
func newTools(list []turn.Tool) *tools { return &tools{list: list} }

// has reports whether a tool of that name is on offer.
func (t *tools) has(name string) bool {
	for i := range t.list {
		if t.list[i].Name == name {
			return true
		}
	}
	return false
}

// find returns the flat name of a tool that a model calls name, and whether
// there is one. A namespace may be written with two colons.
func (t *tools) find(name string) (string, bool) {
	if t == nil {
		return name, false
	}
	if t.has(name) {
		return name, true
	}
	space, bare, ok := strings.Cut(name, "::")
	for i := range t.list {
		if ok && t.list[i].Namespace == space && t.list[i].Bare == bare {
			return t.list[i].Name, true
		}
	}
	return name, false
}

// params returns the schema of a tool's arguments, nil when there is none that
// can be read.
func (t *tools) params(name string) *schema {
	if t == nil {
		return nil
	}
	if s, ok := t.read[name]; ok {
		return s
	}
	var s *schema
	for i := range t.list {
		if t.list[i].Name == name {
			s = readSchema(t.list[i].Schema)
			if s == nil && t.list[i].Custom {
				s = readSchema(json.RawMessage(textSchema))
			}
			break
		}
	}
	if t.read == nil {
		t.read = make(map[string]*schema)
	}
	t.read[name] = s
	return s
}

// textSchema is what a tool of free text is shown as.
const textSchema = `{"type":"object","properties":{"input":{"type":"string"}}}`

// types is a set of JSON types. The empty set says nothing: any type.
type types uint8

const (
	typeString types = 1 << iota
	typeNumber
	typeInteger
	typeBoolean
	typeObject
	typeArray
	typeNull
)

// typeNames are the words that schemas, and attributes of tags, use.
var typeNames = map[string]types{
	"string": typeString, "number": typeNumber, "integer": typeInteger, "boolean": typeBoolean,
	"object": typeObject, "array": typeArray, "null": typeNull,
}

// schema is a JSON schema, or a part of one. Nil is a schema that says
// nothing. Parts that make no sense are passed over, and a question looks at
// maxParts of them at most, since references may go in circles.
type schema struct {
	at   any
	root any
}

const maxParts = 256

// readSchema reads a schema; nil when it is no JSON object.
func readSchema(raw json.RawMessage) *schema {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return nil
	}
	return &schema{at: m, root: m}
}

// types are those that a value may have.
func (s *schema) types() types {
	if s == nil {
		return 0
	}
	left := maxParts
	return s.of(s.at, &left)
}

func (s *schema) of(at any, left *int) types {
	m, ok := at.(map[string]any)
	if *left--; !ok || *left < 0 {
		return 0
	}
	t := typesNamed(m["type"])
	if to, ok := s.ref(m); ok {
		t = both(t, s.of(to, left))
	}
	if yes, _ := m["nullable"].(bool); yes && t != 0 {
		t |= typeNull
	}
	if t == 0 {
		t = members(m)
	}
	for _, k := range [...]string{"anyOf", "oneOf"} {
		t = both(t, s.union(m[k], left))
	}
	all, _ := m["allOf"].([]any)
	for _, part := range all {
		t = both(t, s.of(part, left))
	}
	if t == 0 {
		t = implied(m)
	}
	return t
}

// union is what any of several schemas allows.
func (s *schema) union(list any, left *int) types {
	parts, _ := list.([]any)
	var t types
	for _, part := range parts {
		one := s.of(part, left)
		if one == 0 {
			return 0
		}
		t |= one
	}
	return t
}

// both is what two sets have in common. A set that says nothing, or the
// opposite of the other, gives way.
func both(a, b types) types {
	if a == 0 || b == 0 {
		return a | b
	}
	if a&typeNumber != 0 {
		a |= typeInteger
	}
	if b&typeNumber != 0 {
		b |= typeInteger
	}
	if a&b == 0 {
		return a
	}
	return a & b
}

// typesNamed reads the value of "type".
func typesNamed(v any) types {
	switch v := v.(type) {
	case string:
		return typeNames[v]
	case []any:
		var t types
		for _, one := range v {
			word, _ := one.(string)
			t |= typeNames[word]
		}
		return t
	}
	return 0
}

// members are the types of what const and enum list.
func members(m map[string]any) types {
	list, _ := m["enum"].([]any)
	if v, ok := m["const"]; ok {
		list = []any{v}
	}
	var t types
	for _, v := range list {
		switch v := v.(type) {
		case string:
			t |= typeString
		case bool:
			t |= typeBoolean
		case float64:
			if v == float64(int64(v)) {
				t |= typeInteger
			} else {
				t |= typeNumber
			}
		case map[string]any:
			t |= typeObject
		case []any:
			t |= typeArray
		case nil:
			t |= typeNull
		}
	}
	return t
}

// implied is what keywords without "type" are about.
func implied(m map[string]any) types {
	for _, k := range [...]string{"properties", "required", "additionalProperties"} {
		if _, ok := m[k]; ok {
			return typeObject
		}
	}
	for _, k := range [...]string{"items", "prefixItems"} {
		if _, ok := m[k]; ok {
			return typeArray
		}
	}
	return 0
}

// ref returns what a schema refers to, within the same document.
func (s *schema) ref(m map[string]any) (any, bool) {
	path, _ := m["$ref"].(string)
	rest, ok := strings.CutPrefix(path, "#")
	if !ok {
		return nil, false
	}
	at := s.root
	for key := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if key == "" {
			continue
		}
		m, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		if at, ok = m[key]; !ok {
			return nil, false
		}
	}
	return at, true
}

// property returns the schema of an object's property. It reports whether the
// property is declared, by name.
func (s *schema) property(key string) (*schema, bool) {
	if s == nil {
		return nil, false
	}
	if at := s.seek(s.at, new(int), func(m map[string]any) any {
		list, _ := m["properties"].(map[string]any)
		return list[key]
	}); at != nil {
		return &schema{at: at, root: s.root}, true
	}
	return s.part("additionalProperties"), false
}

// item returns the schema of an array's items.
func (s *schema) item() *schema {
	if s == nil {
		return nil
	}
	return s.part("items")
}

// part returns the schema below a keyword, nil when there is none.
func (s *schema) part(keyword string) *schema {
	at := s.seek(s.at, new(int), func(m map[string]any) any {
		list, ok := m[keyword].(map[string]any)
		if !ok {
			return nil
		}
		return list
	})
	if at == nil {
		return nil
	}
	return &schema{at: at, root: s.root}
}

// open reports whether arguments that no one declared are welcome.
func (s *schema) open() bool {
	if s == nil {
		return true
	}
	props := false
	more := s.seek(s.at, new(int), func(m map[string]any) any {
		list, ok := m["properties"].(map[string]any)
		props = props || ok && len(list) > 0
		switch v := m["additionalProperties"].(type) {
		case bool:
			if v {
				return v
			}
		case map[string]any:
			return v
		}
		if v, ok := m["patternProperties"].(map[string]any); ok {
			return v
		}
		return nil
	})
	return more != nil || !props
}

// seek looks in a schema, what it refers to and what it is put together from
// for the first of what look finds.
func (s *schema) seek(at any, seen *int, look func(map[string]any) any) any {
	m, ok := at.(map[string]any)
	if *seen++; !ok || *seen > maxParts {
		return nil
	}
	if found := look(m); found != nil {
		return found
	}
	if to, ok := s.ref(m); ok {
		if found := s.seek(to, seen, look); found != nil {
			return found
		}
	}
	for _, k := range [...]string{"allOf", "anyOf", "oneOf"} {
		parts, _ := m[k].([]any)
		for _, part := range parts {
			if found := s.seek(part, seen, look); found != nil {
				return found
			}
		}
	}
	return nil
}
