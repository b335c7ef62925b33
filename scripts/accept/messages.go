package main

import (
	"context"
	"encoding/json"
)

// messages is an agent of POST /v1/messages that sends Claude Code's headers.
// It streams every other turn.
type messages struct {
	post    post
	head    map[string]string
	history []any
	turns   int
}

func newMessages(p post, w who) agent {
	head := map[string]string{"anthropic-version": "2023-06-01", "X-Claude-Code-Session-Id": w.session}
	if w.agent != "" {
		head["x-claude-code-agent-id"] = w.agent
	}
	return &messages{post: p, head: head}
}

func (m *messages) say(ctx context.Context, text string) (answer, error) {
	return m.turn(ctx, map[string]any{"type": "text", "text": text})
}

func (m *messages) result(ctx context.Context, c call, text string) (answer, error) {
	return m.turn(ctx, map[string]any{"type": "tool_result", "tool_use_id": c.id, "content": text})
}

func (m *messages) turn(ctx context.Context, block any) (answer, error) {
	m.history = append(m.history, map[string]any{"role": "user", "content": []any{block}})
	m.turns++
	body := map[string]any{
		"model": "sim", "max_tokens": 2000, "messages": m.history, "stream": m.turns%2 == 1,
		"system": []any{map[string]any{"type": "text", "text": "You look at things. " + prose("system", 300)}},
		"tools":  []any{map[string]any{"name": "look", "description": "looks", "input_schema": lookSchema}},
	}
	content, err := m.ask(ctx, body)
	if err != nil {
		return answer{}, err
	}
	m.history = append(m.history, map[string]any{"role": "assistant", "content": content})
	var a answer
	for _, b := range content {
		switch b["type"] {
		case "text":
			a.text += b["text"].(string)
		case "tool_use":
			args, err := json.Marshal(b["input"])
			if err != nil {
				return a, err
			}
			a.calls = append(a.calls, call{b["id"].(string), b["name"].(string), string(args)})
		}
	}
	return a, nil
}

// ask returns the content of the answer, from a document or a stream.
func (m *messages) ask(ctx context.Context, body map[string]any) ([]map[string]any, error) {
	if body["stream"] == false {
		var doc struct {
			Content []map[string]any `json:"content"`
		}
		err := m.post.json(ctx, "/v1/messages", m.head, body, &doc)
		return doc.Content, err
	}
	var content []map[string]any
	var args string
	err := m.post.events(ctx, "/v1/messages?beta=true", m.head, body, func(data []byte) (bool, error) {
		var e struct {
			Type  string
			Block map[string]any `json:"content_block"`
			Delta struct {
				Type, Text, Thinking, Signature string
				Part                            string `json:"partial_json"`
			}
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return false, err
		}
		switch e.Type {
		case "content_block_start":
			content, args = append(content, e.Block), ""
		case "content_block_delta":
			b := content[len(content)-1]
			for key, piece := range map[string]string{"text": e.Delta.Text, "thinking": e.Delta.Thinking, "signature": e.Delta.Signature} {
				if piece != "" {
					had, _ := b[key].(string)
					b[key] = had + piece
				}
			}
			args += e.Delta.Part
		case "content_block_stop":
			if args != "" {
				content[len(content)-1]["input"] = json.RawMessage(args)
			}
		}
		return e.Type != "message_stop", nil
	})
	return content, err
}

// lookSchema is the schema of the one tool.
var lookSchema = map[string]any{
	"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}, "required": []string{"n"},
}
