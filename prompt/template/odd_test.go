package template

import (
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestOddTemplates: a template that does not look at the messages, or at some
// of them only, opens and renders.
func TestOddTemplates(t *testing.T) {
	for _, text := range []string{
		"x", "{{ bos_token }}", "{{ messages }}", "{{ messages[0].content }}", "{{ messages[-1]['content'] }}",
		"{% for m in [] %}{{ m }}{% endfor %}", "{% for m in messages[:1] %}{{ m.content }}{% endfor %}",
		"{% for m in messages | reverse %}{{ m.role }}{{ m.content }}{% endfor %}",
		"{% if tools %}{{ tools }}{% else %}{% for m in messages %}{{ m.content }}{% endfor %}{% endif %}",
		"{{ messages | map(attribute='content') | join }}", "{% for m in messages %}{% endfor %}",
		"{% set messages = [] %}{% for m in messages %}{{ m.content }}{% endfor %}",
		"{% for m in messages[1:] %}{{ m.content }}<end>{% endfor %}",
	} {
		tmpl, err := openText(text, nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		tn := &turn.Turn{Messages: []turn.Message{
			{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: "a"}}},
			{Role: turn.Assistant, Blocks: []turn.Block{{Kind: turn.Text, Text: "b"}}},
			{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: "c"}}},
		}}
		p := Page{Now: clock()}
		for range 2 {
			if err := tmpl.Render(&p, tn); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}
