package template

import "testing"

// Every template of the fixtures opens.
func TestOpenAll(t *testing.T) {
	for name, text := range templates(t) {
		if tmpl := opened(t, text, nil); tmpl.Name() != "chat_template.jinja" {
			t.Errorf("%s: named %q", name, tmpl.Name())
		}
	}
}
