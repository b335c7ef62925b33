package script

import (
	"os"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/route"
)

// The page for people names every rule, knob, field and builtin that there is.
func TestPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/strategies.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	var want []string
	for _, r := range route.Rules() {
		want = append(want, "| `"+r.Name+"`")
		for knob := range r.Knobs {
			want = append(want, "`"+knob+"`")
		}
	}
	for f := range turnFields {
		want = append(want, "`"+f+"`")
	}
	for f := range workerFields {
		want = append(want, "`"+f+"`")
	}
	for b := range builtinNames {
		want = append(want, b)
	}
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("docs/strategies.md says nothing of %s", w)
		}
	}
	// Its example is one.
	_, rest, _ := strings.Cut(page, "```python\n")
	src, _, _ := strings.Cut(rest, "```")
	if d := load(t, src).Pick(route.Need{Prompt: 1000, Home: "a"}, three); d.Warning != "" || d.Worker == "" {
		t.Errorf("%+v", d)
	}
}
