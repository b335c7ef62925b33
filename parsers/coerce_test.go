package parsers

import (
	"encoding/json"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestCoerce has what the text of an argument becomes under a schema.
func TestCoerce(t *testing.T) {
	const wrong = turn.Mistyped
	tests := []struct {
		schema, text, want string
		flaw               turn.Flaw
	}{
		// string: verbatim
		{`{"type":"string"}`, `"x"`, `"\"x\""`, 0},
		{`{"type":"string"}`, ` 5 `, `" 5 "`, 0},
		{`{"type":"string"}`, `null`, `"null"`, 0},
		{`{"type":"string"}`, `None`, `"None"`, 0},
		{`{"type":"string"}`, `{"a":1}`, `"{\"a\":1}"`, 0},
		{`{"type":"string"}`, "a\\b\t\"c\"\r\n\x01é", `"a\\b\t\"c\"\r\n\u0001é"`, 0},
		{`{"type":"string"}`, ``, `""`, 0},
		{`{"enum":["a","b"]}`, `1`, `"1"`, 0},
		{`{"const":"a"}`, `true`, `"true"`, 0},

		// integer
		{`{"type":"integer"}`, `5`, `5`, 0},
		{`{"type":"integer"}`, ` -7`, `-7`, 0},
		{`{"type":"integer"}`, `+5`, `5`, 0},
		{`{"type":"integer"}`, `007`, `7`, 0},
		{`{"type":"integer"}`, `-007`, `-7`, 0},
		{`{"type":"integer"}`, `0`, `0`, 0},
		{`{"type":"integer"}`, `5.0`, `5`, 0},
		{`{"type":"integer"}`, `1e3`, `1000`, 0},
		{`{"type":"integer"}`, `12345678901234567890123`, `12345678901234567890123`, 0},
		{`{"type":"integer"}`, `5.5`, `"5.5"`, wrong},
		{`{"type":"integer"}`, `1e400`, `"1e400"`, wrong},
		{`{"type":"integer"}`, `true`, `"true"`, wrong},
		{`{"type":"integer"}`, `abc`, `"abc"`, wrong},
		{`{"type":"integer"}`, `{"a":1}`, `"{\"a\":1}"`, wrong},
		{`{"type":"integer"}`, `"x"`, `"\"x\""`, wrong},
		{`{"type":"integer"}`, `null`, `"null"`, wrong},
		{`{"type":"integer"}`, `None`, `"None"`, wrong},
		{`{"type":"integer"}`, ``, `""`, wrong},
		{`{"enum":[1,2]}`, `2`, `2`, 0},

		// number
		{`{"type":"number"}`, `5.0`, `5.0`, 0},
		{`{"type":"number"}`, `5`, `5`, 0},
		{`{"type":"number"}`, `007`, `7`, 0},
		{`{"type":"number"}`, `.5`, `0.5`, 0},
		{`{"type":"number"}`, `-5.`, `-5`, 0},
		{`{"type":"number"}`, `-12.5e-3`, `-12.5e-3`, 0},
		{`{"type":"number"}`, `NaN`, `"NaN"`, wrong},
		{`{"type":"number"}`, `inf`, `"inf"`, wrong},
		{`{"type":"number"}`, `1_000`, `"1_000"`, wrong},

		// boolean
		{`{"type":"boolean"}`, `true`, `true`, 0},
		{`{"type":"boolean"}`, `True`, `true`, 0},
		{`{"type":"boolean"}`, `FALSE`, `false`, 0},
		{`{"type":"boolean"}`, `False`, `false`, 0},
		{`{"type":"boolean"}`, `5`, `"5"`, wrong},
		{`{"type":"boolean"}`, `abc`, `"abc"`, wrong},
		{`{"type":"boolean"}`, `1`, `"1"`, wrong},

		// containers
		{`{"type":"object"}`, `{"a": 1}`, `{"a": 1}`, 0},
		{`{"type":"object"}`, "\n{\"a\":\n1}\n", "{\"a\":\n1}", 0},
		{`{"type":"object"}`, `{'a': True, 'b': None}`, `{"a": true, "b": null}`, 0},
		{`{"type":"object"}`, `"{\"a\": [1]}"`, `{"a": [1]}`, 0},
		{`{"type":"object"}`, `{"a": [1, 2`, `{"a": [1, 2]}`, turn.Repaired},
		{`{"type":"object"}`, `[1]`, `"[1]"`, wrong},
		{`{"type":"object"}`, `{"a":1} and more`, `"{\"a\":1} and more"`, wrong},
		{`{"type":"object"}`, `x`, `"x"`, wrong},
		{`{"type":"array"}`, `["a", 1]`, `["a", 1]`, 0},
		{`{"type":"array"}`, `[{'op': 'add', 'n': -7}]`, `[{"op": "add", "n": -7}]`, 0},
		{`{"items":{}}`, `[]`, `[]`, 0},
		{`{"properties":{}}`, `{}`, `{}`, 0},

		// references
		{`{"$ref":"#/$defs/M"}`, `{"a":1}`, `{"a":1}`, 0},
		{`{"$ref":"#/$defs/loop"}`, `5`, `"5"`, 0},
		{`{"$ref":"#/$defs/missing"}`, `5`, `"5"`, 0},
		{`{"$ref":"#/$defs/a~1b"}`, `5`, `5`, 0},

		// unions
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `5`, `5`, 0},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `None`, `null`, 0},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `null`, `null`, 0},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, ``, `null`, 0},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `x`, `"x"`, wrong},
		{`{"type":"integer","nullable":true}`, `null`, `null`, 0},
		{`{"type":["boolean","null"]}`, `False`, `false`, 0},
		{`{"type":["string","null"]}`, `5`, `"5"`, 0},
		{`{"type":["string","null"]}`, `true`, `"true"`, 0},
		{`{"type":["string","null"]}`, `null`, `null`, 0},
		{`{"type":["string","null"]}`, `None`, `"None"`, 0},
		{`{"type":["string","null"]}`, ``, `""`, 0},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `5`, `5`, 0},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, ` 5`, `" 5"`, 0},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `5.0`, `"5.0"`, 0},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `007`, `"007"`, 0},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `true`, `"true"`, 0},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `null`, `"null"`, 0},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `{"a":1}`, `"{\"a\":1}"`, 0},
		{`{"anyOf":[{"type":"string"},{"$ref":"#/$defs/M"}]}`, ` {"a":1}`, `{"a":1}`, 0},
		{`{"anyOf":[{"type":"string"},{"$ref":"#/$defs/M"}]}`, `{'a':1}`, `"{'a':1}"`, 0},
		{`{"enum":[1,"auto"]}`, `1`, `1`, 0},
		{`{"enum":[1,"auto"]}`, `auto`, `"auto"`, 0},
		{`{"allOf":[{"type":"integer"},{"minimum":1}]}`, `5`, `5`, 0},
		{`{"allOf":[{"type":["integer","null"]},{"type":["integer","string"]}]}`, `5`, `5`, 0},
		{`{"type":"number","anyOf":[{"type":"integer"},{"type":"null"}]}`, `5`, `5`, 0},

		// nothing is known
		{`{}`, `5`, `"5"`, 0},
		{`{}`, `true`, `"true"`, 0},
		{`{}`, `{"a": 1}`, `{"a": 1}`, 0},
		{`{}`, `[1]`, `[1]`, 0},
		{`{}`, `{'a': 1}`, `"{'a': 1}"`, 0},
		{`true`, `5`, `"5"`, 0},
		{`{"type":"banana"}`, `5`, `"5"`, 0},
		{`{"anyOf":[{},{"type":"null"}]}`, `null`, `"null"`, 0},
	}
	const defs = `{"M":{"type":"object"},"loop":{"$ref":"#/$defs/loop"},"a/b":{"type":"integer"}}`
	for _, tt := range tests {
		s := readSchema(json.RawMessage(`{"type":"object","properties":{"k":` + tt.schema + `},"$defs":` + defs + `}`))
		k, _ := s.property("k")
		got, flaw := coerce(nil, []byte(tt.text), k.types())
		if string(got) != tt.want || flaw != tt.flaw {
			t.Errorf("%s: %q becomes %s, flaws %d; want %s, %d", tt.schema, tt.text, got, flaw, tt.want, tt.flaw)
		}
		if !json.Valid(got) {
			t.Errorf("%s: %q becomes %s, which is no JSON", tt.schema, tt.text, got)
		}
	}
}

// TestTold has values whose tag says whether they are JSON.
func TestTold(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		flaw       turn.Flaw
	}{
		{`5`, `5`, 0},
		{` "x" `, `"x"`, 0},
		{`{"a": "</b>"}`, `{"a": "</b>"}`, 0},
		{`True`, `true`, 0},
		{`None`, `null`, 0},
		{`['a']`, `["a"]`, 0},
		{`abc`, `"abc"`, turn.Mistyped},
		{`007`, `"007"`, turn.Mistyped},
		{``, `""`, turn.Mistyped},
	} {
		if got, flaw := told(nil, []byte(tt.text)); string(got) != tt.want || flaw != tt.flaw {
			t.Errorf("%q becomes %s, flaws %d; want %s, %d", tt.text, got, flaw, tt.want, tt.flaw)
		}
	}
}

// TestSchema has schemas that are broken or put together, and what they
// declare.
func TestSchema(t *testing.T) {
	for _, tt := range []struct {
		schema   string
		declared bool // k is
		open     bool
	}{
		{``, false, true},
		{`nonsense`, false, true},
		{`[]`, false, true},
		{`null`, false, true},
		{`{}`, false, true},
		{`{"properties":5,"type":{},"anyOf":"x","$ref":3}`, false, true},
		{`{"properties":{"k":{}}}`, true, false},
		{`{"properties":{"k":true}}`, true, false},
		{`{"properties":{"other":{}}}`, false, false},
		{`{"properties":{"other":{}},"additionalProperties":false}`, false, false},
		{`{"properties":{"other":{}},"additionalProperties":true}`, false, true},
		{`{"properties":{"other":{}},"additionalProperties":{"type":"string"}}`, false, true},
		{`{"properties":{"other":{}},"patternProperties":{"^x":{}}}`, false, true},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"k":{}}}}}`, true, false},
		{`{"allOf":[{"properties":{"other":{}}},{"properties":{"k":{}}}]}`, true, false},
		{`{"$ref":"#"}`, false, true},
		{`{"allOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}],"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`, false, true},
	} {
		s := newTools([]turn.Tool{{Name: "f", Schema: json.RawMessage(tt.schema)}}).params("f")
		if _, declared := s.property("k"); declared != tt.declared || s.open() != tt.open {
			t.Errorf("%s: declared %v, open %v; want %v, %v", tt.schema, declared, s.open(), tt.declared, tt.open)
		}
		s.types()
		s.item().types()
	}
}

func TestFindTool(t *testing.T) {
	offered := newTools([]turn.Tool{{Name: "f"}, {Name: "web__get", Namespace: "web", Bare: "get"}})
	for name, want := range map[string]string{"f": "f", "web__get": "web__get", "web::get": "web__get", "g": "", "web::put": ""} {
		got, ok := offered.find(name)
		if ok != (want != "") || ok && got != want {
			t.Errorf("find(%q) = %q, %v; want %q", name, got, ok, want)
		}
	}
}
