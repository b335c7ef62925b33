package gen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/parsers"
)

// published are the results over all published templates.
func published(t *testing.T) map[string]*Result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixtures.Dir(t, "templates"), "*.jinja"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	all := map[string]*Result{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".jinja")
		if all[name], err = generate(parsers.Builtin(), Model{Name: strings.ToLower(name), Template: string(text)}, false); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// What is generated for a family that is shipped equals the shipped spec, or
// the report lists each difference: markers that the shipped one knows beyond
// what this template prints, or another grammar that reads the same.
func TestShipped(t *testing.T) {
	for name, r := range published(t) {
		if r.Spec.Evidence.Verified == NoCalls {
			continue
		}
		if r.Like == nil {
			t.Errorf("%s: no shipped spec reads all probes: %v", name, r.Notes)
			continue
		}
		report := r.Report()
		for _, d := range r.Like.Differs {
			if !strings.Contains(report, "* "+d) {
				t.Errorf("%s: the report does not tell %q", name, d)
			}
			more := strings.Contains(d, ": none, not ") || strings.Contains(d, ": false, not true")
			if !more && r.Like.Spec.Name != "mistral" { // which reads its older form, a JSON list, too
				t.Errorf("%s is not as %s: %s", name, r.Like.Spec.Name, d)
			}
		}
	}
}

// The grade of a shipped spec is no better than what the published templates
// show that it is taken for; one that none shows is documented.
func TestEvidence(t *testing.T) {
	worst := map[string]string{}
	rank := map[string]int{Exact: 2, Typed: 1, Lossy: 0}
	for name, r := range published(t) {
		if r.Like == nil {
			continue
		}
		g, _ := grade(r.Like.Spec, r.Probes, false)
		s := r.Like.Spec.Name
		if was, seen := worst[s]; !seen || rank[g] < rank[was] {
			worst[s] = g
		}
		if g == Lossy {
			t.Errorf("%s: %s does not read all probes", name, s)
		}
	}
	for _, s := range parsers.Builtin().Specs() {
		said := s.Evidence.Verified
		shown, there := worst[s.Name]
		switch {
		case said == "":
			t.Errorf("%s has no evidence", s.Name)
		case there && rank[said] > rank[shown]:
			t.Errorf("%s says %s, its templates show %s", s.Name, said, shown)
		case there && said == Documented:
			t.Errorf("%s says %s, its templates show %s", s.Name, said, shown)
		}
	}
}
