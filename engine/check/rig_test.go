package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/openai"
	"github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/turn"
)

// folder is the simulated model's, with other files in place of some.
func folder(t testing.TB, files map[string]string) *prompt.Model {
	t.Helper()
	all := fstest.MapFS{}
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json", "config.json", "generation_config.json"} {
		data, err := fs.ReadFile(model.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = &fstest.MapFile{Data: data}
	}
	for name, text := range files {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	m, err := prompt.OpenFS(all, prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// unaidedEngine hands a model's template conversations as they come, as
// engines do.
type unaidedEngine struct {
	engine.Client
	m    *prompt.Model
	x    manner
	text bool // it shows text only
	now  func() time.Time
}

func (e unaidedEngine) Render(_ context.Context, t *turn.Turn, _ json.RawMessage) (engine.Rendered, error) {
	g := template.Given{Thinking: t.Thinking, Now: time.Now()}
	if e.now != nil {
		g.Now = e.now()
	}
	if openai.Shown(t.Tools) {
		g.Tools = openai.AppendTools(nil, t.Tools)
	}
	g.Messages, _ = e.x.messages(t.Messages)
	text, err := e.m.Template().RenderGiven(g)
	if errors.Is(err, template.ErrRefused) {
		return engine.Rendered{}, &turn.Refused{Status: 400, Message: err.Error()}
	}
	r := engine.Rendered{Text: text}
	if !e.text {
		r = engine.Rendered{IDs: e.m.Tokenizer().Encode(nil, text)}
	}
	return r, err
}

// told is an engine that answers the same to every conversation.
type told struct {
	engine.Client
	rendered engine.Rendered
	err      error
}

func (e told) Render(context.Context, *turn.Turn, json.RawMessage) (engine.Rendered, error) {
	return e.rendered, e.err
}

// waits is an engine that does not answer.
type waits struct{ engine.Client }

func (waits) Render(ctx context.Context, _ *turn.Turn, _ json.RawMessage) (engine.Rendered, error) {
	<-ctx.Done()
	return engine.Rendered{}, fmt.Errorf("%w: %w", turn.ErrLost, context.Cause(ctx))
}
