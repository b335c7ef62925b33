package fake

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/agentinfer/dyn/engine/sim/core"
)

// chatAsk is what is read of a request to a chat API.
type chatAsk struct {
	Rid      string
	Messages []struct {
		Role    string
		Content content
	}
	Most   int    `json:"max_tokens"`
	Ignore bool   `json:"ignore_eos"`
	Salt   string `json:"cache_salt"`
}

// content is what a message says. An image in it is some words.
type content string

// UnmarshalJSON reads a text, or parts.
func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(c))
	}
	var parts []struct{ Type, Text string }
	err := json.Unmarshal(b, &parts)
	for _, p := range parts {
		if *c += content(p.Text); p.Type == "image_url" {
			*c += content(strings.Repeat(" picture", 16))
		}
	}
	return err
}

// talk is a chat API, over a template of no model's. refuse writes why a prompt
// of so many tokens is not taken; during has the answer written.
func (e *Engine) talk(w http.ResponseWriter, r *http.Request, refuse func(http.ResponseWriter, string, int), during func(rid string, a *core.Answer, write func())) {
	var q chatAsk
	if !e.body(w, r, &q) {
		return
	}
	var prompt strings.Builder
	for _, m := range q.Messages {
		prompt.WriteString("<|im_start|>" + m.Role + "\n" + string(m.Content) + "<|im_end|>\n")
	}
	ids := e.tok.Encode(nil, prompt.String()+"<|im_start|>assistant\n")
	if why := e.fits(ids); why != "" {
		refuse(w, why, len(ids))
		return
	}
	a, err := e.submit(&core.Ask{Prompt: ids, MaxTokens: q.Most, IgnoreEnd: q.Ignore, Salt: q.Salt}, "")
	if err != nil {
		problem(w, http.StatusServiceUnavailable, "The request queue is full.")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	during(q.Rid, a, func() {
		made, cached := 0, 0
		err := each(r.Context(), a, func(p *core.Piece) bool {
			made, cached = made+len(p.IDs), p.Cached
			choice := map[string]any{
				"index": 0, "delta": map[string]any{"content": string(p.Text), "tool_calls": nil}, "logprobs": nil, "finish_reason": nil,
			}
			if p.End != nil {
				choice["finish_reason"] = string(p.End.Reason)
			}
			return event(w, map[string]any{"object": "chat.completion.chunk", "choices": []any{choice}})
		})
		if err != nil {
			return
		}
		event(w, map[string]any{"choices": []any{}, "usage": map[string]any{
			"prompt_tokens": len(ids), "completion_tokens": made, "prompt_tokens_details": map[string]any{"cached_tokens": cached},
		}})
		event(w, "[DONE]")
	})
}
