package template

import (
	"fmt"
	"time"

	"github.com/agentinfer/dyn/prompt/jinja"
	"github.com/agentinfer/dyn/turn"
)

// Given is a conversation as an engine's chat API hands it to the template.
type Given struct {
	Messages []byte // a JSON list
	Tools    []byte // a JSON list; nil is none
	Thinking turn.Thinking
	Now      time.Time // of the dates that are printed

	Variables map[string]string // that the engine sets besides
}

// RenderGiven prints a conversation as it is given, to be answered: nothing of
// it is joined, split, left out or put into another form for the template's
// sake. That is what engines do, and what tells an engine with another
// template from one where Render does more. Errors are as Render's.
func (t *Template) RenderGiven(g Given) (string, error) {
	f := t.plain
	if g.Tools != nil {
		f = t.tools
	}
	ctx := jinja.NewMap(len(f.fixed) + 5)
	for _, v := range f.fixed {
		ctx.Set(v.name, v.value)
	}
	for name, text := range g.Variables {
		ctx.Set(name, jinja.String(text))
	}
	f.think(ctx, g.Thinking)
	for name, data := range map[string][]byte{"messages": g.Messages, "tools": g.Tools} {
		if data == nil {
			continue
		}
		v, err := jinja.Decode(data)
		if err != nil {
			return "", fmt.Errorf("render %s as given: %w", name, err)
		}
		ctx.Set(name, v)
	}
	ctx.Set("add_generation_prompt", jinja.Bool(true))
	text, err := f.jinja.Render(nil, jinja.Mapping(ctx), jinja.Options{Now: func() time.Time { return g.Now }})
	if err != nil {
		return "", f.refusal(err)
	}
	return string(text), nil
}
