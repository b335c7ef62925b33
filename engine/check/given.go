package check

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/agentinfer/dyn/engine/openai"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/prompt/template"
	"github.com/agentinfer/dyn/turn"
)

// manner is how an engine hands a message to the template.
type manner struct {
	objects bool // arguments of calls are objects, not text
	turned  bool // they stand before the name
	parts   bool // content is a list of parts
	null    bool // content that is none stays so, and is not the empty text
	dated   bool // the template is told the date, see dates
}

// manners are those of engines: vLLM's (0.32), with content in the form that it
// guesses the template to read, and llama.cpp's, by what it found the template
// to support, and with the date (b10434).
var manners = []manner{
	{objects: true, turned: true},
	{objects: true, turned: true, parts: true},
	{objects: true},
	{objects: true, null: true},
	{objects: true, parts: true},
	{},
	{null: true},
	{parts: true},
	{dated: true, objects: true},
	{dated: true, objects: true, null: true},
	{dated: true, objects: true, parts: true},
	{dated: true},
	{dated: true, null: true},
	{dated: true, parts: true},
}

// dates are the variables by which llama.cpp tells a template the date.
func dates(now time.Time) map[string]string {
	return map[string]string{"date_string": now.Format("02 Jan 2006"), "datetime": now.Format("Jan 02 2006")}
}

// unaided are the texts that the template prints of a turn for an engine that
// takes it as the chat API has it, in each manner in which it prints some.
func unaided(m *prompt.Model, t *turn.Turn, now time.Time) (texts []string) {
	g := template.Given{Thinking: t.Thinking, Now: now}
	if openai.Shown(t.Tools) {
		g.Tools = openai.AppendTools(nil, t.Tools)
	}
	for _, x := range manners {
		var ok bool
		if g.Messages, ok = x.messages(t.Messages); !ok {
			continue
		}
		g.Variables = nil
		if x.dated {
			g.Variables = dates(now)
		}
		if text, err := m.Template().RenderGiven(g); err == nil && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// said is a message of the chat API.
type said struct {
	Role       string   `json:"role"`
	Content    any      `json:"content"`
	Reasoning  string   `json:"reasoning,omitempty"`
	Thought    string   `json:"reasoning_content,omitempty"`
	Calls      []called `json:"tool_calls,omitempty"`
	ToolCallID string   `json:"tool_call_id,omitempty"`
	Name       string   `json:"name,omitempty"`
}

// called is a call in one.
type called struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function json.RawMessage `json:"function"`
}

// function is what is called, turned its members in the other order.
type function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type turned struct {
	Arguments json.RawMessage `json:"arguments"`
	Name      string          `json:"name"`
}

// part is a text as a part of content.
type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// messages are those of the chat API in this manner.
func (x manner) messages(ms []turn.Message) (data []byte, ok bool) {
	var list []said
	if json.Unmarshal(openai.AppendMessages(nil, ms), &list) != nil {
		return nil, false
	}
	for i := range list {
		s := &list[i]
		text, isText := s.Content.(string)
		switch {
		case !isText && s.Content != nil, s.Content == nil && x.null:
		case x.parts && s.Content == nil:
			s.Content = []part{}
		case x.parts && s.Role != string(turn.ToolRole):
			s.Content = []part{{"text", text}}
		default:
			s.Content = text
		}
		for j := range s.Calls {
			if s.Calls[j].Function, ok = x.called(s.Calls[j].Function); !ok {
				return nil, false
			}
		}
	}
	data, err := json.Marshal(list)
	return data, err == nil
}

// called is what is called, in this manner.
func (x manner) called(data []byte) (json.RawMessage, bool) {
	var f function
	var args string
	if json.Unmarshal(data, &f) != nil || json.Unmarshal(f.Arguments, &args) != nil {
		return nil, false
	}
	if x.objects {
		f.Arguments = json.RawMessage(args)
	}
	var v any = f
	if x.turned {
		v = turned{f.Arguments, f.Name}
	}
	data, err := json.Marshal(v)
	return data, err == nil
}
