package openapi

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Operation is one thing that clients can ask for.
type Operation struct {
	Method, Path string // "{id}" may stand for a part of the path
	Says         string
	Open         bool   // needs no key
	In, Out      any    // values of the types that describe the bodies; nil is none
	Flow         any    // of the events of a stream; nil where there is none
	Kind         string // content type of the answer; "" is JSON
	Problem      any    // of an error's body
}

// Document writes the page of the operations.
func Document(version string, ops []Operation) []byte {
	s := &schemas{named: map[string]any{}}
	paths := map[string]map[string]any{}
	for _, op := range ops {
		if paths[op.Path] == nil {
			paths[op.Path] = map[string]any{}
		}
		paths[op.Path][strings.ToLower(op.Method)] = s.operation(op)
	}
	b, _ := json.Marshal(map[string]any{ // plain values can always be written
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "dyn", "version": version, "description": "Serves coding agents from open models."},
		"paths":   paths,
		"components": map[string]any{
			"schemas": s.named,
			"securitySchemes": map[string]any{
				"bearer": map[string]any{"type": "http", "scheme": "bearer"},
				"header": map[string]any{"type": "apiKey", "in": "header", "name": "x-api-key"},
			},
		},
	})
	return b
}

// operation describes one operation.
func (s *schemas) operation(op Operation) map[string]any {
	kind := op.Kind
	if kind == "" {
		kind = "application/json"
	}
	ok := map[string]any{}
	if op.Out != nil {
		ok[kind] = map[string]any{"schema": s.of(reflect.TypeOf(op.Out))}
	} else if op.Kind != "" {
		ok[kind] = map[string]any{"schema": map[string]any{"type": "string"}}
	}
	if op.Flow != nil { // itemSchema is of OpenAPI 3.2; 3.1 has no word for the data of an event
		ok["text/event-stream"] = map[string]any{"schema": map[string]any{"type": "string"}, "x-event": s.of(reflect.TypeOf(op.Flow))}
	}
	d := map[string]any{
		"summary": op.Says,
		"responses": map[string]any{
			"200":     map[string]any{"description": "the answer", "content": ok},
			"default": s.body("an error", op.Problem),
		},
	}
	if op.In != nil {
		d["requestBody"] = s.body("the request", op.In)
		d["requestBody"].(map[string]any)["required"] = true
	}
	if strings.Contains(op.Path, "{id}") {
		d["parameters"] = []any{map[string]any{"name": "id", "in": "path", "required": true, "schema": map[string]any{"type": "string"}}}
	}
	if !op.Open {
		d["security"] = []any{map[string]any{"bearer": []string{}}, map[string]any{"header": []string{}}}
	}
	return d
}

func (s *schemas) body(says string, v any) map[string]any {
	return map[string]any{
		"description": says,
		"content":     map[string]any{"application/json": map[string]any{"schema": s.of(reflect.TypeOf(v))}},
	}
}
