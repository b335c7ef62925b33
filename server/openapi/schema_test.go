package openapi

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestLanguage: what the language says, as a schema; what is none is told with
// its place.
func TestLanguage(t *testing.T) {
	d := &definitions{schemas: map[string]schema{}, objects: map[string]*object{}}
	for text, want := range map[string]string{
		`int`:                         `{"type":"integer"}`,
		`any`:                         `{}`,
		`[string] | null`:             `{"anyOf":[{"items":{"type":"string"},"type":"array"},{"type":"null"}]}`,
		`"a" | "b"`:                   `{"enum":["a","b"],"type":"string"}`,
		`"a" | Other`:                 `{"anyOf":[{"$ref":"#/components/schemas/Other"},{"enum":["a"],"type":"string"}]}`,
		`{*: number}`:                 `{"additionalProperties":{"type":"number"},"properties":{},"type":"object"}`,
		`{a: bool, b?: object}`:       `{"additionalProperties":false,"properties":{"a":{"type":"boolean"},"b":{"type":"object"}},"required":["a"],"type":"object"}`,
		"{\n// says\na?: int\n...\n}": `{"additionalProperties":true,"properties":{"a":{"description":"says","type":"integer"}},"type":"object"}`,
	} {
		if got, _ := json.Marshal(d.typed(text)); string(got) != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	d.file("x", "// A is one.\nA = {a: int, +B}\nB = {b: string, ...}")
	d.fill("A", d.objects["A"])
	if got, _ := json.Marshal(d.schemas["A"]); string(got) != `{"additionalProperties":true,"description":"A is one.","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a","b"],"type":"object"}` {
		t.Errorf("A is %s", got)
	}
	for text, says := range map[string]string{
		"A = int":      "x:1:3: A is defined twice",
		"C = {a int}":  `"int" where ':' should be`,
		"C = {a: int":  "where",
		"C = [int":     "where",
		"C = {..}":     "where '.' should be",
		"C = {a: \"x}": "literal not terminated",
		"= int":        "where",
	} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, says) {
					t.Errorf("%s: %q, want %q", text, p, says)
				}
			}()
			d.file("x", text)
		}()
	}
}
