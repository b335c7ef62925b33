package llamacpp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/openai"
	"github.com/agentinfer/dyn/turn"
)

// Render returns the prompt that the server would make of a turn: the text by
// its template, and the ids of that as it makes them for its chat routes, where
// special tokens are read in the text and the model's own are put before it.
func (c *client) Render(ctx context.Context, t *turn.Turn, switches json.RawMessage) (engine.Rendered, error) {
	b := append([]byte(nil), `{"messages":`...)
	b = openai.AppendMessages(b, t.Messages)
	if openai.Shown(t.Tools) {
		b = openai.AppendTools(append(b, `,"tools":`...), t.Tools)
	}
	if len(switches) > 0 {
		b = append(append(b, `,"chat_template_kwargs":`...), switches...)
	}
	answer, err := c.http.Post(ctx, "/apply-template", append(b, '}'))
	text := gjson.GetBytes(answer, "prompt")
	switch {
	case absent(err), err == nil && text.Type != gjson.String:
		return engine.Rendered{}, fmt.Errorf("the server does not show its prompts: %w", errors.ErrUnsupported)
	case err != nil:
		return engine.Rendered{}, fmt.Errorf("render: %w", c.blame(ctx, err))
	}
	r := engine.Rendered{Text: text.Str}
	r.IDs, err = c.tokenize(ctx, r.Text)
	if absent(err) {
		err = nil // the text says enough
	}
	return r, err
}

// blame says what a failed rendering means: a template that does not take the
// conversation is a 500 here, of a server that is well.
func (c *client) blame(ctx context.Context, err error) error {
	if errors.Is(err, turn.ErrLost) && strings.Contains(err.Error(), "status 500") && c.Health(ctx) == nil {
		return &turn.Refused{Status: http.StatusBadRequest, Message: err.Error()}
	}
	return err
}

// absent reports whether an error is a route that the server does not have.
func absent(err error) bool {
	var refused *turn.Refused
	return errors.Is(err, errors.ErrUnsupported) || errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusMethodNotAllowed)
}

// tokenize asks for the ids of a prompt's text.
func (c *client) tokenize(ctx context.Context, text string) ([]uint32, error) {
	body, _ := json.Marshal(map[string]any{"content": text, "add_special": true, "parse_special": true}) // a string can always be written
	answer, err := c.http.Post(ctx, "/tokenize", body)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	var ids []uint32
	for _, v := range gjson.GetBytes(answer, "tokens").Array() {
		if n := v.Int(); v.Type == gjson.Number && n >= 0 && n <= math.MaxUint32 {
			ids = append(ids, uint32(n))
			continue
		}
		return nil, fmt.Errorf("render: %s is no token: %w", v.Raw, turn.ErrLost)
	}
	return ids, nil
}

var _ engine.Renderer = (*client)(nil)
