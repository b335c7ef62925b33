package gen

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/parsers"
)

var update = flag.Bool("update", false, "write the golden files anew")

// own are the templates of this package's tests, in forms that no model has.
func own(t *testing.T, name string) Model {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".jinja"))
	if err != nil {
		t.Fatal(err)
	}
	return Model{Name: name, Template: string(text)}
}

// What is written for templates that have no shipped spec, one of each shape
// that a spec can say.
func TestGolden(t *testing.T) {
	for name, want := range map[string]struct {
		grammar parsers.Grammar
		grade   string
	}{
		"acorn":   {parsers.Tagged, Typed},
		"birch":   {parsers.NameJSON, Exact},
		"cedar":   {parsers.JSONCall, Exact},
		"dogwood": {parsers.PseudoJSON, Exact},
		"elm":     {parsers.Tagged, Exact},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Generate(own(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if r.Spec.Grammar != want.grammar || r.Spec.Evidence.Verified != want.grade {
				t.Errorf("%s, %s; want %s, %s: %v", r.Spec.Grammar, r.Spec.Evidence.Verified, want.grammar, want.grade, r.Failures)
			}
			files, err := r.Files()
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join("..", "testdata", "gen", name)
			for _, f := range files {
				golden(t, filepath.Join(dir, f.Name), f.Data)
			}
			spec, err := parsers.ReadSpec(files[0].Data)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Check(spec); err != nil {
				t.Errorf("what was written does not pass the check: %v", err)
			}
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s is not what is made now; run the test with -update and look at the difference", path)
	}
}

// Every published template: no panic, and calls in JSON, with the name outside,
// between tags or as pseudo-JSON are read back, by a derived spec or a shipped
// one. What is Python's or has messages with headers is graded as it is.
func TestTemplates(t *testing.T) {
	dir := fixtures.Dir(t, "templates")
	files, err := filepath.Glob(filepath.Join(dir, "*.jinja"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates in %s: %v", dir, err)
	}
	grades := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".jinja")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Generate(Model{Name: strings.ToLower(name), Template: string(text)})
			if err != nil {
				t.Fatal(err)
			}
			grade := r.Spec.Evidence.Verified
			if slices.Contains([]string{Exact, Typed, NoCalls}, grade) || r.Spec.Grammar == parsers.Pythonic || r.Spec.Grammar == parsers.Channels {
				return
			}
			for _, f := range r.Failures {
				t.Errorf("%s: %v\nprinted: %q", grade, f.Err, f.Probe.Text)
			}
			if len(r.Failures) == 0 {
				t.Errorf("grade %s, %v", grade, r.Notes)
			}
		})
		grades[name]++
	}
}

// A template is foreign code: whatever it does, an error tells it, in bounded
// time.
func TestHostile(t *testing.T) {
	for name, c := range map[string]struct{ template, want string }{
		"endless recursion": {`{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}{{ messages }}`, "limit"},
		"endless loop":      {`{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}`, "limit"},
		"huge output":       {`{% for a in range(99999) %}{{ "0123456789" * 100 }}{% endfor %}`, "limit"},
		"no template":       {`{% if %}`, "parse"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Generate(Model{Name: "x", Template: c.template}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v; want one that tells %q", err, c.want)
			}
		})
	}
	for name, template := range map[string]string{
		"raises":         `{{ raise_exception("no") }}`,
		"missing fields": `{{ messages[0].nothing.at.all }}`,
		"empty":          ``,
		"no messages":    `hello`,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Generate(Model{Name: "x", Template: template})
			if err != nil || r.Spec.Evidence.Verified != NoCalls {
				t.Errorf("grade %v, error %v; want none", r, err)
			}
		})
	}
}

// A changed template fails the check, and so does a spec that reads its probes
// otherwise.
func TestCheck(t *testing.T) {
	r, err := Generate(own(t, "elm"))
	if err != nil {
		t.Fatal(err)
	}
	was := *r.Spec
	was.Evidence.Template = "0"
	if err := r.Check(&was); err == nil || !strings.Contains(err.Error(), "the template changed") {
		t.Errorf("error is %v", err)
	}
	other := *r.Spec
	other.Arg.Newline = false
	if err := r.Check(&other); err == nil || !strings.Contains(err.Error(), `probe "call"`) {
		t.Errorf("error is %v", err)
	}
	if err := r.Check(r.Spec); err != nil {
		t.Error(err)
	}
}

// A model's name makes a package's, whatever it is.
func TestIdentifier(t *testing.T) {
	for name, want := range map[string]string{"acme-7b": "acme7b", "const": "constmodel", "Type": "typemodel", "7b": "b", "東京": "model", "": "model"} {
		if got := identifier(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
