package main

import (
	"context"
	"encoding/json"
)

// chat is an agent of POST /v1/chat/completions that says nothing about who
// it is: the daemon has to know it by its history.
type chat struct {
	post    post
	history []any
	turns   int
}

func newChat(p post, w who) agent {
	system := "You look at things for " + w.session + " " + w.agent + ". " + prose("system", 300)
	return &chat{post: p, history: []any{map[string]any{"role": "system", "content": system}}}
}

func (c *chat) say(ctx context.Context, text string) (answer, error) {
	return c.turn(ctx, map[string]any{"role": "user", "content": text})
}

func (c *chat) result(ctx context.Context, of call, text string) (answer, error) {
	return c.turn(ctx, map[string]any{"role": "tool", "tool_call_id": of.id, "content": text})
}

// chatMessage is an answer, whole or in pieces.
type chatMessage struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	Calls     []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
		Args string `json:"arguments"`
	} `json:"function"`
}

func (c *chat) turn(ctx context.Context, in any) (answer, error) {
	c.history = append(c.history, in)
	c.turns++
	body := map[string]any{
		"model": "sim", "max_tokens": 2000, "messages": c.history, "stream": c.turns%2 == 1,
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "look", "description": "looks", "parameters": lookSchema}}},
	}
	msg, err := c.ask(ctx, body)
	if err != nil {
		return answer{}, err
	}
	msg.Role = "assistant"
	c.history = append(c.history, msg)
	a := answer{text: msg.Content}
	for _, of := range msg.Calls {
		a.calls = append(a.calls, call{of.ID, of.Function.Name, of.Function.Args})
	}
	return a, nil
}

// ask returns the answer's message, from a document or a stream.
func (c *chat) ask(ctx context.Context, body map[string]any) (chatMessage, error) {
	if body["stream"] == false {
		var doc struct {
			Choices []struct{ Message chatMessage }
		}
		err := c.post.json(ctx, "/v1/chat/completions", nil, body, &doc)
		if err != nil || len(doc.Choices) != 1 {
			return chatMessage{}, err
		}
		return doc.Choices[0].Message, nil
	}
	var msg chatMessage
	err := c.post.events(ctx, "/v1/chat/completions", nil, body, func(data []byte) (bool, error) {
		var e struct {
			Choices []struct {
				Delta  chatMessage
				Finish *string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return false, err
		}
		for _, ch := range e.Choices {
			msg.Content += ch.Delta.Content
			msg.Reasoning += ch.Delta.Reasoning
			for _, d := range ch.Delta.Calls {
				for len(msg.Calls) <= d.Index {
					msg.Calls = append(msg.Calls, chatCall{Index: len(msg.Calls), Type: "function"})
				}
				into := &msg.Calls[d.Index]
				into.ID += d.ID
				into.Function.Name += d.Function.Name
				into.Function.Args += d.Function.Args
			}
			if ch.Finish != nil {
				return false, nil
			}
		}
		return true, nil
	})
	return msg, err
}
