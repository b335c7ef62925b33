package openapi

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Any is anything.
type Any struct{}

// Open makes a struct that embeds it one that may have more fields.
type Open struct{}

// union is a type that is one of several; Union returns a value of each. Nil
// among them stands for null.
type union interface{ Union() []any }

// schemas gathers the schemas of named structs.
type schemas struct{ named map[string]any }

var (
	rawType   = reflect.TypeFor[json.RawMessage]()
	anyType   = reflect.TypeFor[Any]()
	openType  = reflect.TypeFor[Open]()
	unionType = reflect.TypeFor[union]()
)

// of returns the schema of a type; structs are referred to by name.
func (s *schemas) of(t reflect.Type) map[string]any {
	switch {
	case t == openType:
		return map[string]any{"type": "object"}
	case t == rawType, t == anyType, t.Kind() == reflect.Interface:
		return map[string]any{}
	case t.Kind() != reflect.Pointer && t.Implements(unionType):
		return s.oneOf(reflect.Zero(t).Interface().(union).Union())
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{s.of(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Struct:
		return s.ref(t)
	}
	return map[string]any{"type": "integer"}
}

func (s *schemas) oneOf(values []any) map[string]any {
	var list []any
	for _, v := range values {
		if v == nil {
			list = append(list, map[string]any{"type": "null"})
			continue
		}
		list = append(list, s.of(reflect.TypeOf(v)))
	}
	return map[string]any{"anyOf": list}
}

// ref returns a reference to a struct's schema, which it makes once.
func (s *schemas) ref(t reflect.Type) map[string]any {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if _, ok := s.named[name]; !ok {
		s.named[name] = nil // it may hold itself
		s.named[name] = s.object(t)
	}
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// object returns the schema of a struct.
func (s *schemas) object(t reflect.Type) map[string]any {
	props, required, open := map[string]any{}, []string{}, false
	s.fields(t, props, &required, &open)
	o := map[string]any{"type": "object", "properties": props, "additionalProperties": open}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// fields adds the fields of a struct and of those that it embeds.
func (s *schemas) fields(t reflect.Type, props map[string]any, required *[]string, open *bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Type == openType:
			*open = true
			continue
		case f.Anonymous:
			s.fields(f.Type, props, required, open)
			continue
		}
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		prop := s.of(f.Type)
		if words := f.Tag.Get("enum"); words != "" {
			prop["enum"] = strings.Split(words, "|")
		}
		if doc := f.Tag.Get("doc"); doc != "" {
			prop["description"] = doc
		}
		props[name] = prop
		if rest != "omitempty" {
			*required = append(*required, name)
		}
	}
}
