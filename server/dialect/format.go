package dialect

import (
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// flatFormat reads a format whose fields stand beside its type: text.format
// of responses, output_config.format of messages.
func (r *reader) flatFormat(v tape.Value) turn.Format { return r.format(v, v) }

// nestedFormat reads chat's response_format, whose fields stand in an object
// named like its type.
func (r *reader) nestedFormat(v tape.Value) turn.Format {
	inner := r.field(v, "json_schema", tape.Object)
	if inner.Kind() == tape.None && v.Key("type").Text() == "json_schema" {
		r.lacks(v, "json_schema")
	}
	return r.format(v, inner)
}

// format reads the form that the answer's text must have; outer has its type,
// inner what belongs to a schema.
func (r *reader) format(outer, inner tape.Value) turn.Format {
	if outer.Kind() == tape.None {
		return turn.Format{}
	}
	switch kind := r.needed(outer, "type"); kind {
	case "text":
	case "json_object":
		return turn.Format{Kind: turn.JSONObject}
	case "json_schema":
		f := turn.Format{Kind: turn.JSONSchema, Name: r.text(inner, "name"), Strict: r.flag(inner, "strict")}
		s := r.field(inner, "schema", tape.Object)
		if s.Kind() == tape.None {
			r.lacks(inner, "schema")
			return f
		}
		r.schema(s)
		f.Schema = s.Bytes()
		return f
	default:
		r.fail(outer.Key("type"), "must be 'text', 'json_object' or 'json_schema', not '%s'", cut(kind))
	}
	return turn.Format{}
}

// Keywords of JSON Schema (draft 2020-12, sections 10 and 11 of the core
// vocabulary) that hold schemas: one, a list, or a map of them.
var (
	oneSchema   = []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties"}
	someSchemas = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
	mapSchemas  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// schemaTypes are the values of the keyword type.
var schemaTypes = map[string]bool{
	"string": true, "number": true, "integer": true, "boolean": true, "object": true, "array": true, "null": true,
}

// schema checks that a schema is one, as far as no engine could go on with
// it: an engine's own complaint would not say where. Nesting is bounded by
// tape.MaxDepth.
func (r *reader) schema(v tape.Value) {
	switch v.Kind() {
	case tape.True, tape.False:
		return
	case tape.Object:
	default:
		r.fail(v, "must be a schema, an object or a boolean, not %s", kindName(v.Kind()))
		return
	}
	r.schemaWords(v)
	for _, key := range oneSchema {
		if s := v.Key(key); s.Kind() == tape.Array && key == "items" {
			r.schemas(s) // the form before draft 2020-12
		} else if s.Kind() != tape.None {
			r.schema(s)
		}
	}
	for _, key := range someSchemas {
		list := r.field(v, key, tape.Array)
		if list.Kind() == tape.Array && list.Empty() {
			r.fail(list, "must hold at least one schema")
		}
		r.schemas(list)
	}
	for _, key := range mapSchemas {
		for _, s := range r.field(v, key, tape.Object).Fields() {
			if !r.failed() {
				r.schema(s)
			}
		}
	}
}

func (r *reader) schemas(list tape.Value) {
	for _, s := range list.Elements() {
		if !r.failed() {
			r.schema(s)
		}
	}
}

// schemaWords checks the keywords that hold no schemas.
func (r *reader) schemaWords(v tape.Value) {
	t := v.Key("type")
	switch t.Kind() {
	case tape.None:
	case tape.String:
		r.schemaType(t)
	case tape.Array:
		for _, one := range t.Elements() {
			r.schemaType(one)
		}
	default:
		r.fail(t, "must be the name of a type or a list of names, not %s", kindName(t.Kind()))
	}
	for _, one := range r.field(v, "required", tape.Array).Elements() {
		if one.Kind() != tape.String {
			r.fail(one, "must be a string, not %s", kindName(one.Kind()))
		}
	}
	r.field(v, "enum", tape.Array)
	r.text(v, "pattern")
	r.text(v, "$ref")
}

func (r *reader) schemaType(v tape.Value) {
	if name := v.Text(); !schemaTypes[name] {
		r.fail(v, "must be a type of JSON Schema, not %s", cut(string(v.Raw())))
	}
}
