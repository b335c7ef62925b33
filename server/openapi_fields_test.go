package server

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readsField finds where a field of a request is read by its name.
var readsField = regexp.MustCompile(`\bKey\("(\w+)"\)|\br\.\w+\([\w.]+, "(\w+)"|(?m:^\t+"(\w+)": .*(?:func\(r \*reader|silent|pin,|latency,|greedy,|annotations,))`)

// notOnThePage are names that are read and are no fields that a client is to
// know: words of JSON schemas, a harness' own documents inside a field, and
// fields that are refused with what they hold.
var notOnThePage = strings.Fields("enum pattern required __unparsedToolInput raw request_kind conversation functions")

// TestEveryFieldIsDescribed: definitions of requests are open, since clients
// send more than is read; so what is read is looked for in the source.
func TestEveryFieldIsDescribed(t *testing.T) {
	var page struct {
		Paths      map[string]map[string]struct{ RequestBody any }
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(describe("test", table()), &page); err != nil {
		t.Fatal(err)
	}
	described, seen := map[string]bool{}, map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && !seen[ref] {
				seen[ref] = true
				walk(page.Components.Schemas[ref[strings.LastIndexByte(ref, '/')+1:]])
			}
			if fields, ok := v["properties"].(map[string]any); ok {
				for name := range fields {
					described[name] = true
				}
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	for _, ops := range page.Paths {
		for _, op := range ops {
			walk(op.RequestBody)
		}
	}
	read := map[string]string{}
	for _, pattern := range []string{"*.go", "dialect/*.go", "completion/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range readsField.FindAllStringSubmatch(string(source), -1) {
				read[m[1]+m[2]+m[3]] = name
			}
		}
	}
	if len(read) < 100 {
		t.Fatalf("%d fields are read", len(read))
	}
	for _, field := range slices.Sorted(maps.Keys(read)) {
		if !described[field] && !slices.Contains(notOnThePage, field) {
			t.Errorf("%s reads %s, which no request is described to have", read[field], field)
		}
	}
}
