package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// document sends a body and reads the whole answer.
func (l *lab) document(ctx context.Context, path string, head map[string]string, body any) (int, []byte, error) {
	resp, err := l.ask(ctx, path, head, body)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, text, err
}

// forms asks for an answer that must have a form.
func forms(ctx context.Context, l *lab, s *sheet) error {
	t := l.talk("form", 5).say("What is the capital of France? Answer as JSON with city and country.")
	body := t.body(60, false)
	body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "place", "strict": true, "schema": map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"city", "country"},
		"properties": map[string]any{"city": map[string]any{"type": "string", "maxLength": 20}, "country": map[string]any{"type": "string", "maxLength": 20}},
	}}}
	status, text, err := l.document(ctx, "/v1/chat/completions", t.head, body)
	if err != nil {
		return err
	}
	var c chunk
	if err := json.Unmarshal(text, &c); err != nil || status != http.StatusOK || len(c.Choices) == 0 {
		return fmt.Errorf("status %d: %s", status, tail(text))
	}
	said := c.Choices[0].Message.Content
	var place map[string]string
	right := json.Unmarshal([]byte(said), &place) == nil && len(place) == 2 && place["city"] != "" && place["country"] != ""
	s.check(l.k.name, "an answer held to a JSON schema", right, "`%s`", said)
	return nil
}

// example shows the model what a call looks like: its template has no tools.
const example = `<tool_call>
{"name": "get_weather", "arguments": {"city": %q}}
</tool_call>
`

// toolCall requires a call of one tool. dyn begins the call, the model goes on.
func toolCall(ctx context.Context, l *lab, s *sheet) error {
	t := l.talk("call", 5).say("The weather of Rome:\n" + fmt.Sprintf(example, "Rome") + "The weather of Oslo:\n" + fmt.Sprintf(example, "Oslo") + "The weather of Paris:")
	body := t.body(60, false)
	body["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{
		"name": "get_weather", "description": "the weather of a city",
		"parameters": map[string]any{
			"type": "object", "required": []string{"city"}, "additionalProperties": false,
			"properties": map[string]any{"city": map[string]any{"type": "string", "maxLength": 20}},
		},
	}}}
	body["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": "get_weather"}}
	body["parallel_tool_calls"] = false
	status, text, err := l.document(ctx, "/v1/chat/completions", t.head, body)
	if err != nil {
		return err
	}
	var doc struct {
		Choices []struct {
			Finish  string `json:"finish_reason"`
			Message struct {
				Content string
				Calls   []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil || status != http.StatusOK || len(doc.Choices) == 0 {
		return fmt.Errorf("status %d: %s", status, tail(text))
	}
	m := doc.Choices[0].Message
	what := "a call of the tool that the client named"
	if len(m.Calls) != 1 {
		s.check(l.k.name, what, false, "%d calls, finish %s, text `%s`", len(m.Calls), doc.Choices[0].Finish, m.Content)
		return nil
	}
	f := m.Calls[0].Function
	var args map[string]string
	right := f.Name == "get_weather" && json.Unmarshal([]byte(f.Arguments), &args) == nil && args["city"] != ""
	s.check(l.k.name, what, right, "`%s` `%s`, finish %s", f.Name, f.Arguments, doc.Choices[0].Finish)
	return l.tag(ctx, s)
}

// tag has the engine itself hold an answer to the form of a call, whose
// arguments have a schema.
func (l *lab) tag(ctx context.Context, s *sheet) error {
	const form = `{"type":"structural_tag","format":{"type":"triggered_tags","triggers":["<tool_call>"],"at_least_one":true,"stop_after_first":true,"tags":[` +
		`{"begin":"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": ","end":"}\n</tool_call>","content":{"type":"json_schema","json_schema":` +
		`{"type":"object","required":["city"],"additionalProperties":false,"properties":{"city":{"type":"string","maxLength":20}}}}}]}}`
	w, err := l.worker(ctx, "w0")
	if err != nil {
		return err
	}
	text, err := l.complete(ctx, w, map[string]any{
		"prompt": "Call get_weather for the city of Paris.\n", "max_tokens": 80, "temperature": 0,
		"structured_outputs": map[string]any{"structural_tag": form},
	})
	if err != nil {
		return err
	}
	var args map[string]string
	inner, begun := strings.CutPrefix(text, `<tool_call>`+"\n"+`{"name": "get_weather", "arguments": `)
	inner, ended := strings.CutSuffix(strings.TrimSpace(inner), "}\n</tool_call>")
	right := begun && ended && json.Unmarshal([]byte(inner), &args) == nil && args["city"] != ""
	s.check(l.k.name, "a call held to a grammar, asked of the engine itself", right, "`%s`", text)
	return nil
}

// numbers are the figures in an error's text.
var numbers = regexp.MustCompile(`\d[\d,]*`)

// tooLong sends prompts that do not fit, in each dialect.
func tooLong(ctx context.Context, l *lab, s *sheet) error {
	text := prose("too long", 2*l.k.context)
	user := []any{map[string]any{"role": "user", "content": text}}
	for _, d := range []struct {
		path string
		body map[string]any
	}{
		{"/v1/messages", map[string]any{"model": l.k.model, "max_tokens": 16, "messages": user}},
		{"/v1/chat/completions", map[string]any{"model": l.k.model, "max_tokens": 16, "messages": user}},
		{"/v1/responses", map[string]any{"model": l.k.model, "max_output_tokens": 16, "input": text}},
	} {
		status, answer, err := l.document(ctx, d.path, map[string]string{"anthropic-version": "2023-06-01"}, d.body)
		if err != nil {
			return err
		}
		var doc struct {
			Error struct {
				Message string
				Type    string
				Code    any
			}
		}
		err = json.Unmarshal(answer, &doc)
		said := fmt.Sprintf("%d, %s", status, doc.Error.Message)
		right := err == nil && status == http.StatusBadRequest && len(numbers.FindAllString(doc.Error.Message, -1)) >= 2 &&
			strings.Contains(doc.Error.Message, fmt.Sprint(l.k.context))
		s.check(l.k.name, "a prompt that is too long, `"+d.path+"`", right, "%s", said)
	}
	return nil
}
