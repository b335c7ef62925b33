package dialect

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// responsesClient reads responses: sequence numbers rise by one, created comes
// first, an item is added, told in pieces and done, and the last event's
// output holds the items as they were done.
type responsesClient struct{}

func (responsesClient) stream(t *testing.T, events []sse) said {
	t.Helper()
	var (
		s      said
		ended  bool
		open   map[string]any // the item that is open
		pieces string
		items  []any
	)
	for n, e := range events {
		typ, _ := e.data["type"].(string)
		if e.name != typ || e.data["sequence_number"] != float64(n) || ended {
			t.Errorf("event %d: %s %s, ended %v", n, e.name, e.raw, ended)
		}
		if (n == 0) != (typ == "response.created") {
			t.Errorf("event %d is %s", n, typ)
		}
		if i, ok := e.data["output_index"]; ok && i != float64(len(items)) {
			t.Errorf("output_index %v, want %d", i, len(items))
		}
		switch last := typ[strings.LastIndexByte(typ, '.')+1:]; {
		case typ == "response.created", typ == "response.in_progress":
			checkResponse(t, e.data["response"], "in_progress")
		case typ == "response.output_item.added":
			if open != nil {
				t.Error("an item is added while one is open")
			}
			open, pieces = e.data["item"].(map[string]any), ""
			if open["status"] != "in_progress" {
				t.Errorf("added %v", open)
			}
		case typ == "response.output_item.done":
			item := e.data["item"].(map[string]any)
			if open == nil || item["id"] != open["id"] || item["type"] != open["type"] {
				t.Errorf("done %v, open %v", item, open)
			}
			if got := s.item(t, item); got != pieces {
				t.Errorf("the pieces give %q, the item %q", pieces, got)
			}
			items, open = append(items, item), nil
		case last == "delta":
			if e.data["item_id"] != open["id"] {
				t.Errorf("%s of another item than %v", e.raw, open)
			}
			pieces += e.data["delta"].(string)
		case last == "added" || last == "done":
			if e.data["item_id"] != open["id"] {
				t.Errorf("%s of another item than %v", e.raw, open)
			}
			for _, key := range []string{"text", "arguments", "input"} {
				if v, ok := e.data[key]; ok && v != pieces {
					t.Errorf("%s: %v, the pieces give %q", typ, v, pieces)
				}
			}
		default:
			ended = true
			s.response(t, typ, e.data["response"].(map[string]any), items)
		}
	}
	if !ended || open != nil {
		t.Errorf("ended %v, open %v", ended, open)
	}
	return s
}

// item adds a whole item and returns its text.
func (s *said) item(t *testing.T, item map[string]any) string {
	t.Helper()
	part := func(key string) string {
		list, _ := item[key].([]any)
		if len(list) != 1 {
			return ""
		}
		return list[0].(map[string]any)["text"].(string)
	}
	switch item["type"] {
	case "message":
		s.Text += part("content")
		return part("content")
	case "reasoning":
		text := part("summary") + part("content")
		s.Thinking += text
		if item["encrypted_content"] == "" || item["encrypted_content"] == nil {
			t.Errorf("reasoning without encrypted_content: %v", item)
		}
		return text
	}
	args, ok := item["arguments"].(string)
	if !ok {
		args = item["input"].(string)
	}
	name := item["name"].(string)
	if space, ok := item["namespace"].(string); ok {
		name = space + "/" + name
	}
	s.Calls = append(s.Calls, call{item["call_id"].(string), name, args})
	return args
}

// response reads the last event's response.
func (s *said) response(t *testing.T, typ string, r map[string]any, items []any) {
	t.Helper()
	checkResponse(t, r, strings.TrimPrefix(typ, "response."))
	if out := r["output"].([]any); len(out) != len(items) || len(items) > 0 && !reflect.DeepEqual(out, items) {
		t.Errorf("output %v, items %v", out, items)
	}
	called := len(s.Calls) > 0
	switch {
	case typ == "response.failed":
		code := r["error"].(map[string]any)["code"]
		s.Stop = map[any]string{"server_error": "503", "invalid_prompt": "400", "context_length_exceeded": "400"}[code]
		return
	case typ == "response.incomplete":
		s.Stop = "length"
	case called:
		s.Stop = "calls"
	default:
		s.Stop = "end"
	}
	u := r["usage"].(map[string]any)
	s.Prompt, s.Output = int(u["input_tokens"].(float64)), int(u["output_tokens"].(float64))
	s.Cached = int(u["input_tokens_details"].(map[string]any)["cached_tokens"].(float64))
	if u["total_tokens"].(float64) != u["input_tokens"].(float64)+u["output_tokens"].(float64) {
		t.Errorf("usage %v", u)
	}
}

func checkResponse(t *testing.T, v any, status string) {
	t.Helper()
	r := v.(map[string]any)
	if r["object"] != "response" || r["status"] != status || r["model"] != `a "model"` || !strings.HasPrefix(r["id"].(string), "resp_") {
		t.Errorf("response %v, want status %s", r, status)
	}
}

func (responsesClient) document(t *testing.T, status int, doc map[string]any) said {
	t.Helper()
	if status != 200 {
		if got := openAIStatus(doc); got != strconv.Itoa(status) {
			t.Errorf("status %d, body %v", status, doc)
		}
		return said{Stop: strconv.Itoa(status)}
	}
	var s said
	items := doc["output"].([]any)
	for _, v := range items {
		s.item(t, v.(map[string]any))
	}
	s.response(t, "response."+doc["status"].(string), doc, items)
	return s
}
