package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/recipes"
)

// TestRecipesNameKnownParsers: a recipe cannot ask for a parser that this
// program does not have.
func TestRecipesNameKnownParsers(t *testing.T) {
	for _, r := range recipes.List() {
		for _, name := range []string{r.Parsers.Tools, r.Parsers.Reasoning} {
			if name != "" && !slices.Contains(parsers.Known(), name) {
				t.Errorf("recipe %s: parser %q is not among %q", r.Name, name, parsers.Known())
			}
		}
	}
}

// The recipe that the help page shows can be read; fetch stands there in place
// of model_dir.
func TestRecipesTopic(t *testing.T) {
	for _, without := range []string{"fetch:", "model_dir:"} {
		var text strings.Builder
		for line := range strings.Lines(recipesTopic()) {
			if in, ok := strings.CutPrefix(line, "  "); ok && strings.Contains(in, ": ") && !strings.HasPrefix(in, without) && !strings.HasPrefix(in, "dyn ") && !strings.HasPrefix(in, "sim ") && !strings.HasPrefix(in, "tiny ") {
				text.WriteString(in)
			}
		}
		yaml := strings.Replace(text.String(), "sha256: ..., bytes: ...", "sha256: "+strings.Repeat("a", 64)+", bytes: 1", 1)
		if r, err := recipes.Read([]byte(yaml), parsers.Known()); err != nil || r.Name != "mine" || !r.TrustRemoteCode {
			t.Errorf("without %s: %v\n%s", without, err, yaml)
		}
	}
}
