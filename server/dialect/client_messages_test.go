package dialect

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// messagesClient reads the messages API: indexes rise by one, one block is
// open at a time, one message_stop or error ends it.
type messagesClient struct{}

func (messagesClient) stream(t *testing.T, events []sse) said {
	t.Helper()
	var (
		s       said
		started bool
		ended   bool
		open    string
		next    float64
		signed  bool
	)
	for _, e := range events {
		if e.name != e.data["type"] {
			t.Errorf("event %s with data of type %v", e.name, e.data["type"])
		}
		if ended {
			t.Errorf("%s after the end", e.name)
		}
		switch e.name {
		case "ping":
		case "message_start":
			if started {
				t.Error("two message_start")
			}
			started = true
			m := e.data["message"].(map[string]any)
			if m["role"] != "assistant" || m["stop_reason"] != nil || m["model"] != `a "model"` || len(m["content"].([]any)) != 0 {
				t.Errorf("message_start: %s", e.raw)
			}
			s.usage(t, m["usage"])
		case "content_block_start":
			b := e.data["content_block"].(map[string]any)
			if !started || open != "" || e.data["index"] != next {
				t.Errorf("block %v opened while %q is open, want index %v", e.data["index"], open, next)
			}
			open, signed = b["type"].(string), false
			if open == "tool_use" {
				s.Calls = append(s.Calls, call{ID: b["id"].(string), Name: b["name"].(string)})
				if len(b["input"].(map[string]any)) != 0 {
					t.Errorf("input at the start: %s", e.raw)
				}
			}
		case "content_block_delta":
			if e.data["index"] != next || open == "" {
				t.Errorf("delta for block %v, open is %q %v", e.data["index"], open, next)
			}
			signed = s.delta(t, open, e.data["delta"].(map[string]any))
		case "content_block_stop":
			if e.data["index"] != next || open == "" || open == "thinking" && !signed {
				t.Errorf("block %v stopped, open is %q %v, signed %v", e.data["index"], open, next, signed)
			}
			open = ""
			next++
		case "message_delta":
			if open != "" || s.Stop != "" {
				t.Errorf("message_delta while %q is open, stop %q", open, s.Stop)
			}
			s.stopped(e.data["delta"].(map[string]any))
			s.usage(t, e.data["usage"])
		case "message_stop":
			ended = true
		case "error":
			ended = true
			s = said{Thinking: s.Thinking, Text: s.Text, Calls: s.Calls, Stop: anthropicStatus(e.data)}
		default:
			t.Errorf("event %s", e.name)
		}
	}
	if !ended {
		t.Error("no end")
	}
	return s
}

// delta adds a piece of the open block and reports a signature.
func (s *said) delta(t *testing.T, open string, d map[string]any) (signature bool) {
	t.Helper()
	switch kind := d["type"].(string); open + " " + kind {
	case "text text_delta":
		s.Text += d["text"].(string)
	case "thinking thinking_delta":
		s.Thinking += d["thinking"].(string)
	case "thinking signature_delta":
		return d["signature"] != ""
	case "tool_use input_json_delta":
		s.Calls[len(s.Calls)-1].Args += d["partial_json"].(string)
	default:
		t.Errorf("%s in a block of %s", kind, open)
	}
	return false
}

func (s *said) stopped(m map[string]any) {
	s.Stop = map[any]string{"end_turn": "end", "tool_use": "calls", "max_tokens": "length", "stop_sequence": "stop"}[m["stop_reason"]]
	s.StopText, _ = m["stop_sequence"].(string)
}

func (s *said) usage(t *testing.T, v any) {
	t.Helper()
	u := v.(map[string]any)
	n := func(key string) int { return int(u[key].(float64)) }
	s.Cached, s.Output = n("cache_read_input_tokens"), n("output_tokens")
	s.Prompt = n("input_tokens") + n("cache_creation_input_tokens") + s.Cached
	made := u["cache_creation"].(map[string]any)
	if made["ephemeral_5m_input_tokens"].(float64)+made["ephemeral_1h_input_tokens"].(float64) != u["cache_creation_input_tokens"] {
		t.Errorf("usage does not add up: %v", u)
	}
}

// anthropicStatus returns the status that an error's type stands for.
func anthropicStatus(doc map[string]any) string {
	e := doc["error"].(map[string]any)
	if doc["type"] != "error" || doc["request_id"] != "t0123456789abcdef" || e["message"] == "" {
		return fmt.Sprint(doc)
	}
	return map[any]string{"invalid_request_error": "400", "overloaded_error": "503", "api_error": "500"}[e["type"]]
}

func (messagesClient) document(t *testing.T, status int, m map[string]any) said {
	t.Helper()
	if status != 200 {
		if got := anthropicStatus(m); got != strconv.Itoa(status) {
			t.Errorf("status %d, body %v", status, m)
		}
		return said{Stop: strconv.Itoa(status)}
	}
	var s said
	for _, v := range m["content"].([]any) {
		switch b := v.(map[string]any); b["type"] {
		case "text":
			s.Text += b["text"].(string)
		case "thinking":
			s.Thinking += b["thinking"].(string)
			if b["signature"] == "" {
				t.Error("a thinking block without signature")
			}
		case "tool_use":
			args, _ := json.Marshal(b["input"].(map[string]any))
			s.Calls = append(s.Calls, call{b["id"].(string), b["name"].(string), string(args)})
		default:
			t.Errorf("block %v", b)
		}
	}
	s.stopped(m)
	s.usage(t, m["usage"])
	return s
}

// TestOmittedThinking has the thinking block open and close empty, and the
// text come back through its signature.
func TestOmittedThinking(t *testing.T) {
	tr := &turn.Turn{ID: "t1", Model: "m", Thinking: turn.Thinking{Mode: "on", Omitted: true}}
	enc := messages{}.Stream(tr)
	wire := enc.Open(nil, turn.Usage{})
	for _, e := range join(think("hid"), think("den é"), says("x"), think("two"), done(turn.Ended)) {
		wire = enc.Event(wire, e)
	}
	var texts []string
	for _, e := range parseSSE(t, wire) {
		if d, ok := e.data["delta"].(map[string]any); ok && d["type"] != "text_delta" && d["type"] != nil {
			if d["type"] != "signature_delta" {
				t.Fatalf("delta %v", d)
			}
			texts = append(texts, signed(d["signature"].(string)))
		}
	}
	if len(texts) != 2 || texts[0] != "hidden é" || texts[1] != "two" {
		t.Errorf("signatures hold %q", texts)
	}
	doc := messages{}.Document(tr)
	for _, e := range join(think("hidden é"), done(turn.Ended)) {
		doc.Add(e)
	}
	_, body := doc.JSON()
	var m struct {
		Content []struct{ Thinking, Signature string }
	}
	if err := json.Unmarshal(body, &m); err != nil || m.Content[0].Thinking != "" || signed(m.Content[0].Signature) != "hidden é" {
		t.Errorf("document %s, %v", body, err)
	}
}
