package template

import (
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures"
)

// Every template of the fixtures opens.
func TestOpenAll(t *testing.T) {
	for name, text := range fixtures.Templates(t) {
		if tmpl := opened(t, text, nil); tmpl.Name() != "chat_template.jinja" {
			t.Errorf("%s: named %q", name, tmpl.Name())
		}
	}
}
