package main

import (
	"context"
	"encoding/json"
)

// responses is an agent of POST /v1/responses that sends Codex's headers.
type responses struct {
	post    post
	head    map[string]string
	history []any
	turns   int
}

func newResponses(p post, w who) agent {
	head := map[string]string{"session-id": w.session, "thread-id": w.session, "originator": "codex_exec"}
	if w.agent != "" {
		head["thread-id"] = w.session + "-" + w.agent
		head["x-codex-parent-thread-id"] = w.session
		head["x-openai-subagent"] = "collab_spawn"
	}
	return &responses{post: p, head: head}
}

func (r *responses) say(ctx context.Context, text string) (answer, error) {
	return r.turn(ctx, map[string]any{
		"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": text}},
	})
}

func (r *responses) result(ctx context.Context, c call, text string) (answer, error) {
	return r.turn(ctx, map[string]any{"type": "function_call_output", "call_id": c.id, "output": text})
}

// item is an output item; Raw is the whole of it, to be sent back.
type item struct {
	Type    string
	Name    string
	CallID  string `json:"call_id"`
	Args    string `json:"arguments"`
	Content []struct{ Text string }
}

func (r *responses) turn(ctx context.Context, in any) (answer, error) {
	r.history = append(r.history, in)
	r.turns++
	body := map[string]any{
		"model": "sim", "input": r.history, "stream": r.turns%2 == 0, "store": false, "tool_choice": "auto",
		"instructions": "You look at things. " + prose("system", 300),
		"include":      []string{"reasoning.encrypted_content"},
		"tools":        []any{map[string]any{"type": "function", "name": "look", "description": "looks", "strict": false, "parameters": lookSchema}},
	}
	output, err := r.ask(ctx, body)
	if err != nil {
		return answer{}, err
	}
	var a answer
	for _, raw := range output {
		r.history = append(r.history, raw)
		var it item
		if err := json.Unmarshal(raw, &it); err != nil {
			return a, err
		}
		switch it.Type {
		case "message":
			for _, c := range it.Content {
				a.text += c.Text
			}
		case "function_call":
			a.calls = append(a.calls, call{it.CallID, it.Name, it.Args})
		}
	}
	return a, nil
}

// ask returns the output items, from a document or a stream.
func (r *responses) ask(ctx context.Context, body map[string]any) ([]json.RawMessage, error) {
	if body["stream"] == false {
		var doc struct{ Output []json.RawMessage }
		err := r.post.json(ctx, "/v1/responses", r.head, body, &doc)
		return doc.Output, err
	}
	var output []json.RawMessage
	err := r.post.events(ctx, "/v1/responses", r.head, body, func(data []byte) (bool, error) {
		var e struct {
			Type string
			Item json.RawMessage
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return false, err
		}
		if e.Type == "response.output_item.done" {
			output = append(output, e.Item)
		}
		return e.Type != "response.completed", nil
	})
	return output, err
}
