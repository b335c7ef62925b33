package llamacpp

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/turn"
)

// TestChatBody: a chat is asked for in the server's own words where it has
// some, in a slot that the mirror chose.
func TestChatBody(t *testing.T) {
	half := 0.5
	body := chatBody(turn.Job{
		MaxTokens: 7, Sampling: turn.Sampling{Temperature: &half, Repetition: &half, Logprobs: true, TopLogprobs: 2},
		Switches: json.RawMessage(`{"enable_thinking":false}`),
		Chat: &turn.Turn{
			Messages: []turn.Message{{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: "hi"}}}},
			Tools:    []turn.Tool{{Name: "f"}},
		},
	}, &claim{pin: 3, fresh: true})
	var got map[string]any
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for name, want := range map[string]string{
		"id_slot": "3", "cache_prompt": "false", "return_progress": "true", "tool_choice": "auto", "max_tokens": "7",
		"repeat_penalty": "0.5", "temperature": "0.5", "logprobs": "true", "top_logprobs": "2", "stream": "true",
		"chat_template_kwargs": "map[enable_thinking:false]", "messages": "[map[content:hi role:user]]",
	} {
		if fmt.Sprint(got[name]) != want {
			t.Errorf("%s is %v, want %s", name, got[name], want)
		}
	}
	var caps turn.Capabilities
	if visible(gjson.Parse(`{"modalities":{"vision":true,"audio":false}}`), &caps); !caps.Chat || !caps.Vision {
		t.Errorf("%+v", caps)
	}
}
