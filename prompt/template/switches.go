package template

import (
	"encoding/json"
	"sync"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// Switches are the variables that the template is given for a turn besides the
// model's own tokens: the recipe's, and those that say what the turn says of
// thinking. They are a JSON object, which chat APIs take as
// chat_template_kwargs; nil when there are none.
func (t *Template) Switches(tn *turn.Turn) json.RawMessage {
	f := t.form(tn)
	ctx := jinja.NewMap(len(f.fixed) - f.tokens + 2)
	for _, v := range f.fixed[f.tokens:] {
		ctx.Set(v.name, v.value)
	}
	f.think(ctx, tn.Thinking)
	if ctx.Len() == 0 {
		return nil
	}
	all := jinja.NewMap(1)
	all.Set("v", jinja.Mapping(ctx))
	text, err := asJSON().Render(nil, jinja.Mapping(all), jinja.Options{})
	if err != nil {
		return nil // they came from JSON, so they can be written as such
	}
	return text
}

// asJSON writes a value as JSON.
var asJSON = sync.OnceValue(func() *jinja.Template {
	t, err := jinja.Parse("{{ v|tojson }}")
	if err != nil {
		panic(err) // it is a constant
	}
	return t
})
