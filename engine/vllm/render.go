package vllm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/openai"
	"github.com/agentinfer/dyn/turn"
)

// renders are the routes that show a chat's prompt, in the order in which they
// are asked. The first is there in every vLLM; the second only where the
// server runs with --enable-scale-out, but also where the first takes no
// messages.
var renders = []string{"/tokenize", "/v1/chat/completions/render"}

// Render returns the ids that the server makes of a turn. It knows no text.
func (c *client) Render(ctx context.Context, t *turn.Turn, switches json.RawMessage) (engine.Rendered, error) {
	model := c.model.Load()
	if model == nil {
		return engine.Rendered{}, fmt.Errorf("the model's name is not known yet: %w", turn.ErrLost)
	}
	b := appendString([]byte(`{"model":`), *model)
	b = openai.AppendMessages(append(b, `,"messages":`...), t.Messages)
	if openai.Shown(t.Tools) {
		b = openai.AppendTools(append(b, `,"tools":`...), t.Tools)
	}
	if len(switches) > 0 {
		b = append(append(b, `,"chat_template_kwargs":`...), switches...)
	}
	b = append(b, `,"add_generation_prompt":true}`...)
	var err error
	for _, path := range renders {
		var ids []uint32
		if ids, err = c.render(ctx, path, b); !errors.Is(err, errors.ErrUnsupported) {
			return engine.Rendered{IDs: ids}, err
		}
	}
	return engine.Rendered{}, err
}

// render asks one route for the ids of a chat.
func (c *client) render(ctx context.Context, path string, body []byte) ([]uint32, error) {
	answer, err := c.server.Post(ctx, path, body)
	if err != nil {
		return nil, err
	}
	var a struct {
		Tokens   []uint32 `json:"tokens"`    // of /tokenize
		TokenIDs []uint32 `json:"token_ids"` // of a render
	}
	if err := json.Unmarshal(answer, &a); err != nil || len(a.Tokens)+len(a.TokenIDs) == 0 {
		return nil, fmt.Errorf("%s: the answer holds no token ids: %w", path, errors.ErrUnsupported)
	}
	return append(a.Tokens, a.TokenIDs...), nil
}
