package template

import (
	"errors"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func TestRenderGiven(t *testing.T) {
	const body = `{% for m in messages %}{% if m.role == 'x' %}{{ raise_exception('no x') }}{% endif %}{{ m.role }}={{ m.content }};{% endfor %}` +
		`{{ tools|tojson if tools }} {{ strftime_now('%Y') }} {{ enable_thinking }} {{ add_generation_prompt }}`
	for _, c := range []struct {
		name  string
		given Given
		want  string
	}{
		{"messages in a row stay", Given{Messages: []byte(`[{"role":"user","content":"a"},{"role":"user","content":"b"}]`)}, "user=a;user=b; 2025  True"},
		{"tools stay as they are", Given{Messages: []byte(`[]`), Tools: []byte(`[{"b":1.0,"a":null}]`)}, `[{"b": 1.0, "a": null}] 2025  True`},
		{"the engine's own variable", Given{Messages: []byte(`[]`), Variables: map[string]string{"enable_thinking": "x"}}, " 2025 x True"},
		{"thinking", Given{Messages: []byte(`[]`), Thinking: turn.Thinking{Mode: "off"}}, " 2025 False True"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.given.Now = clock()
			if got, err := opened(t, body, nil).RenderGiven(c.given); got != c.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	if _, err := opened(t, body, nil).RenderGiven(Given{Messages: []byte(`[{"role":"x"}]`)}); !errors.Is(err, ErrRefused) {
		t.Errorf("what the template raises is %v", err)
	}
	if _, err := opened(t, body, nil).RenderGiven(Given{Messages: []byte(`[`)}); err == nil {
		t.Error("half a list was taken")
	}
}
