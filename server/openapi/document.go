package openapi

import (
	"encoding/json"
	"strings"
)

// Operation is one thing that clients can ask for.
type Operation struct {
	Method, Path string // "{id}" may stand for a part of the path
	Says         string
	Open         bool     // needs no key
	In, Out      string   // the types of the bodies; "" is none
	Flow         string   // of the events of a stream
	Kind         string   // content type of the answer; "" is JSON
	Problem      string   // of an error's body
	Query        []string // names that may stand behind the path's ?
}

// Document writes the page of the operations.
func Document(version string, ops []Operation) []byte {
	d := read()
	paths, named := schema{}, schema{}
	for _, op := range ops {
		if paths[op.Path] == nil {
			paths[op.Path] = schema{}
		}
		paths[op.Path].(schema)[strings.ToLower(op.Method)] = d.operation(op)
	}
	d.gather(named, paths)
	b, _ := json.Marshal(schema{ // plain values can always be written
		"openapi": "3.1.0",
		"info":    schema{"title": "dyn", "version": version, "description": "Serves coding agents from open models."},
		"paths":   paths,
		"components": schema{
			"schemas": named,
			"securitySchemes": schema{
				"bearer": schema{"type": "http", "scheme": "bearer"},
				"header": schema{"type": "apiKey", "in": "header", "name": "x-api-key"},
			},
		},
	})
	return b
}

// operation describes one operation.
func (d *definitions) operation(op Operation) schema {
	kind := op.Kind
	if kind == "" {
		kind = "application/json"
	}
	ok := schema{}
	if op.Out != "" {
		ok[kind] = schema{"schema": d.typed(op.Out)}
	} else if op.Kind != "" {
		ok[kind] = schema{"schema": schema{"type": "string"}}
	}
	if op.Flow != "" { // itemSchema is of OpenAPI 3.2; 3.1 has no word for the data of an event
		ok["text/event-stream"] = schema{"schema": schema{"type": "string"}, "x-event": d.typed(op.Flow)}
	}
	page := schema{
		"summary": op.Says,
		"responses": schema{
			"200":     schema{"description": "the answer", "content": ok},
			"default": d.body("an error", op.Problem),
		},
	}
	if op.In != "" {
		in := d.body("the request", op.In)
		in["required"] = true
		page["requestBody"] = in
	}
	var parameters []any
	if strings.Contains(op.Path, "{id}") {
		parameters = append(parameters, schema{"name": "id", "in": "path", "required": true, "schema": schema{"type": "string"}})
	}
	for _, name := range op.Query {
		parameters = append(parameters, schema{"name": name, "in": "query", "schema": schema{"type": "string"}})
	}
	if parameters != nil {
		page["parameters"] = parameters
	}
	if !op.Open {
		page["security"] = []any{schema{"bearer": []string{}}, schema{"header": []string{}}}
	}
	return page
}

func (d *definitions) body(says, v string) schema {
	return schema{
		"description": says,
		"content":     schema{"application/json": schema{"schema": d.typed(v)}},
	}
}
