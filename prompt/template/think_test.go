package template

import (
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// What a turn says of thinking reaches the variables that a template minds.
func TestThinking(t *testing.T) {
	const body = `{% for m in messages %}{{ m.content }} {% endfor %}`
	type th = turn.Thinking
	for _, c := range []struct {
		name, template string
		switches       map[string]any
		think          th
		want           string
	}{
		{"default", body + `{{ enable_thinking is defined }}`, nil, th{}, "False"},
		{"on", body + `{{ 'yes' if enable_thinking }}`, nil, th{Mode: "on"}, "yes"},
		{"off", body + `{{ 'no' if enable_thinking is defined and not enable_thinking }}`, nil, th{Mode: "off"}, "no"},
		{"effort none is off", body + `{{ 'no' if enable_thinking is defined and not enable_thinking }}`, nil, th{Effort: "none"}, "no"},
		{"another name", body + `{{ 'yes' if thinking }}`, nil, th{Mode: "on"}, "yes"},
		{"words instead", body + `{{ thinking_mode or 'adaptive' }}`, nil, th{Mode: "off"}, "disabled"},
		{"the recipe's", body + `{{ clear_thinking }} {{ enable_thinking }}`, map[string]any{"clear_thinking": false, "enable_thinking": false}, th{}, "False False"},
		{"the turn before the recipe", body + `{{ enable_thinking }}`, map[string]any{"enable_thinking": false}, th{Mode: "on"}, "True"},
		{"effort", body + `{{ reasoning_effort or 'medium' }}`, nil, th{Effort: "high"}, "high"},
		{"an effort above", body + `{{ reasoning_effort or 'medium' }}`, nil, th{Effort: "max"}, "high"},
		{"an effort below", body + `{{ reasoning_effort or 'medium' }}`, nil, th{Effort: "minimal"}, "low"},
		{"not a word for it", body + `{{ reasoning_effort or 'medium' }}`, nil, th{Effort: "purple"}, "medium"},
		{"cannot be off", body + `{{ reasoning_effort or 'medium' }}`, nil, th{Mode: "off"}, "low"},
		{"off by effort", body + `{% if reasoning_effort not in [none, 'none', 'high'] and reasoning_effort is defined %}{{ raise_exception('no') }}{% endif %}{{ reasoning_effort }}`, nil, th{Mode: "off"}, "none"},
		{"nearest that is not refused", body + `{% if reasoning_effort is defined and reasoning_effort not in ['none', 'high'] %}{{ raise_exception('no') }}{% endif %}{{ reasoning_effort }}`, nil, th{Effort: "low"}, "high"},
		{"on where it is off by itself", body + `{{ reasoning_effort if reasoning_effort in ['high'] else 'none' }}`, nil, th{Mode: "on"}, "high"},
		{"one of two that are known", body + `{{ 'High' if reasoning_effort == 'high' else 'Max' }}`, nil, th{Effort: "medium"}, "High"},
		{"the other", body + `{{ 'High' if reasoning_effort == 'high' else 'Max' }}`, nil, th{Effort: "xhigh"}, "High"},
		{"the one it has without", body + `{{ 'High' if reasoning_effort == 'high' else 'Max' }}`, nil, th{Effort: "max"}, "Max"},
		{"nobody minds", body + `x`, nil, th{Mode: "off", Effort: "low"}, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl := opened(t, c.template, c.switches)
			var p Page
			if err := tmpl.Render(&p, &turn.Turn{Messages: []turn.Message{user("q")}, Thinking: c.think}); err != nil {
				t.Fatal(err)
			}
			if got := string(p.Text); got != "q "+c.want {
				t.Errorf("got %q, want %q", got, "q "+c.want)
			}
		})
	}
}

// The date of a page is that of its first rendering, whatever the clock says.
func TestDateStays(t *testing.T) {
	tmpl := opened(t, `{{ strftime_now('%Y-%m-%d') }}{% for m in messages %}{{ m.content }}{% endfor %}`, nil)
	p := Page{Now: clock()}
	for range 2 {
		if err := tmpl.Render(&p, &turn.Turn{Messages: []turn.Message{user("q")}}); err != nil {
			t.Fatal(err)
		}
		if got := string(p.Text); got != "2025-06-05q" {
			t.Errorf("got %q", got)
		}
	}
	var fresh Page
	if err := tmpl.Render(&fresh, &turn.Turn{Messages: []turn.Message{user("q")}}); err != nil {
		t.Fatal(err)
	}
	if fresh.Now.IsZero() || fresh.Now.Format("2006-01-02")+"q" != string(fresh.Text) {
		t.Errorf("at %v: %q", fresh.Now, fresh.Text)
	}
}
