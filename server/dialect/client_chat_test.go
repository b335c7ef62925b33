package dialect

import (
	"strconv"
	"testing"
)

// chatClient reads chat completions: the role first, one finish reason, then
// usage, then [DONE].
type chatClient struct{}

func (chatClient) stream(t *testing.T, events []sse) said {
	t.Helper()
	var (
		s     said
		roles int
		usage bool
	)
	last := events[len(events)-1]
	if last.raw != "[DONE]" {
		t.Errorf("the stream ends with %s", last.raw)
	}
	for _, e := range events[:len(events)-1] {
		if e.name != "" || e.raw == "[DONE]" {
			t.Errorf("event %q %s", e.name, e.raw)
			continue
		}
		if _, ok := e.data["error"]; ok {
			s.Stop = openAIStatus(e.data)
			continue
		}
		if e.data["object"] != "chat.completion.chunk" || e.data["model"] != `a "model"` || e.data["id"] == "" {
			t.Errorf("chunk %s", e.raw)
		}
		choices := e.data["choices"].([]any)
		if len(choices) == 0 {
			if s.Stop == "" || usage {
				t.Errorf("usage before the finish, or twice: %s", e.raw)
			}
			usage = true
			s.chatUsage(e.data["usage"])
			continue
		}
		c := choices[0].(map[string]any)
		d := c["delta"].(map[string]any)
		if d["role"] == "assistant" {
			roles++
		}
		s.chatDelta(t, d)
		if r := c["finish_reason"]; r != nil {
			if s.Stop != "" || len(d) != 0 {
				t.Errorf("finish chunk %s", e.raw)
			}
			s.Stop = chatStop(r)
		}
	}
	if failed := s.Stop != "end" && len(s.Stop) == 3; roles != 1 && !failed {
		t.Errorf("%d chunks with the role", roles)
	}
	if s.Stop == "" || !usage && len(s.Stop) != 3 && s.Stop != "end" {
		t.Errorf("no end, or no usage: %+v", s)
	}
	return s
}

func chatStop(reason any) string {
	return map[any]string{"stop": "end", "tool_calls": "calls", "length": "length"}[reason]
}

func (s *said) chatDelta(t *testing.T, d map[string]any) {
	t.Helper()
	if text, ok := d["content"].(string); ok {
		s.Text += text
	}
	if text, ok := d["reasoning_content"].(string); ok {
		s.Thinking += text
	}
	list, _ := d["tool_calls"].([]any)
	for _, v := range list {
		c := v.(map[string]any)
		f := c["function"].(map[string]any)
		switch i := int(c["index"].(float64)); i {
		case len(s.Calls): // the first piece has it all
			if c["type"] != "function" {
				t.Errorf("call %v", c)
			}
			s.Calls = append(s.Calls, call{c["id"].(string), f["name"].(string), f["arguments"].(string)})
		case len(s.Calls) - 1:
			if len(c) != 2 || len(f) != 1 {
				t.Errorf("a later piece repeats fields: %v", c)
			}
			s.Calls[i].Args += f["arguments"].(string)
		default:
			t.Errorf("call %d out of order", i)
		}
	}
}

func (s *said) chatUsage(v any) {
	u := v.(map[string]any)
	s.Prompt, s.Output = int(u["prompt_tokens"].(float64)), int(u["completion_tokens"].(float64))
	s.Cached = int(u["prompt_tokens_details"].(map[string]any)["cached_tokens"].(float64))
}

// openAIStatus returns the status that an error's type stands for.
func openAIStatus(doc map[string]any) string {
	e := doc["error"].(map[string]any)
	for _, key := range []string{"message", "type", "param", "code"} {
		if _, ok := e[key]; !ok {
			return "no " + key
		}
	}
	switch {
	case e["type"] == "invalid_request_error":
		return "400"
	case e["code"] == "service_unavailable":
		return "503"
	}
	return "500"
}

func (chatClient) document(t *testing.T, status int, doc map[string]any) said {
	t.Helper()
	if status != 200 {
		if got := openAIStatus(doc); got != strconv.Itoa(status) {
			t.Errorf("status %d, body %v", status, doc)
		}
		return said{Stop: strconv.Itoa(status)}
	}
	c := doc["choices"].([]any)[0].(map[string]any)
	m := c["message"].(map[string]any)
	s := said{Stop: chatStop(c["finish_reason"])}
	s.Text, _ = m["content"].(string)
	s.Thinking, _ = m["reasoning_content"].(string)
	list, _ := m["tool_calls"].([]any)
	for _, v := range list {
		f := v.(map[string]any)["function"].(map[string]any)
		s.Calls = append(s.Calls, call{v.(map[string]any)["id"].(string), f["name"].(string), f["arguments"].(string)})
	}
	s.chatUsage(doc["usage"])
	return s
}
