package conform

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Page is an OpenAPI document.
type Page struct{ root map[string]any }

// Read reads a document.
func Read(doc []byte) (*Page, error) {
	p := &Page{}
	return p, json.Unmarshal(doc, &p.root)
}

// Operation returns the description of an operation, or nil. Paths with
// {id} are looked through where no other fits.
func (p *Page) Operation(method, path string) map[string]any {
	paths, _ := p.root["paths"].(map[string]any)
	best := ""
	for name := range paths {
		head, tail, cut := strings.Cut(name, "{id}")
		fits := name == path || cut && strings.HasPrefix(path, head) && strings.HasSuffix(path, tail) && len(path) > len(head)+len(tail)
		if fits && (name == path || best != path && len(name) > len(best)) {
			best = name
		}
	}
	ops, _ := paths[best].(map[string]any)
	op, _ := ops[strings.ToLower(method)].(map[string]any)
	return op
}

// Dig follows keys into a description; nil when one is missing.
func Dig(v any, keys ...string) any {
	for _, k := range keys {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	return v
}

// Check holds a JSON value against a schema of the document. The error says
// where they part.
func (p *Page) Check(schema any, value []byte) error {
	d := json.NewDecoder(strings.NewReader(string(value)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	return p.check(schema, v, "")
}

// words are those of a schema that are understood; the last two mean nothing
// to a value.
var words = []string{"$ref", "type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}

func (p *Page) check(schema, v any, at string) error {
	s, ok := schema.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: there is no schema", at)
	}
	for w := range s {
		if !slices.Contains(words, w) {
			return fmt.Errorf("%s: the schema has an unknown word %s", at, w)
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		return p.check(Dig(p.root, "components", "schemas", name), v, at)
	}
	if list, ok := s["anyOf"].([]any); ok {
		return p.any(list, v, at)
	}
	if list, ok := s["enum"].([]any); ok && !slices.Contains(list, v) {
		return fmt.Errorf("%s: %v is none of %v", at, v, list)
	}
	if err := kind(s["type"], v, at); err != nil {
		return err
	}
	switch v := v.(type) {
	case map[string]any:
		return p.object(s, v, at)
	case []any:
		for i, e := range v {
			if items, ok := s["items"]; ok {
				if err := p.check(items, e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// kind checks a value's type.
func kind(want, v any, at string) error {
	got := "null"
	switch v := v.(type) {
	case string:
		got = "string"
	case bool:
		got = "boolean"
	case map[string]any:
		got = "object"
	case []any:
		got = "array"
	case json.Number:
		got = "number"
		if !strings.ContainsAny(v.String(), ".eE") {
			got = "integer"
		}
	}
	if want == nil || want == got || want == "number" && got == "integer" {
		return nil
	}
	return fmt.Errorf("%s: is %s, not %v", at, got, want)
}

func (p *Page) object(s, v map[string]any, at string) error {
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Errorf("%s: lacks %v", at, name)
		}
	}
	props, _ := s["properties"].(map[string]any)
	for name, f := range v {
		sub, ok := props[name]
		if !ok {
			sub = s["additionalProperties"]
		}
		switch sub := sub.(type) {
		case bool:
			if !sub {
				return fmt.Errorf("%s: the field %s is not described", at, name)
			}
		case map[string]any:
			if err := p.check(sub, f, at+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// any checks a value against several schemas. Of objects the one with the
// value's type is meant, so that the error is about that.
func (p *Page) any(list []any, v any, at string) error {
	var errs []string
	for _, s := range list {
		err := p.check(s, v, at)
		if err == nil {
			return nil
		}
		if p.meant(s, v) {
			return err
		}
		errs = append(errs, err.Error())
	}
	return fmt.Errorf("%s: fits none: %s", at, strings.Join(errs, " | "))
}

// meant reports that a schema's enum of types holds the value's own.
func (p *Page) meant(schema, v any) bool {
	obj, _ := v.(map[string]any)
	name, ok := obj["type"].(string)
	if ref, is := Dig(schema, "$ref").(string); is {
		schema = Dig(p.root, "components", "schemas", strings.TrimPrefix(ref, "#/components/schemas/"))
	}
	types, _ := Dig(schema, "properties", "type", "enum").([]any)
	return ok && slices.Contains(types, any(name))
}
