package main

import (
	"slices"
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
