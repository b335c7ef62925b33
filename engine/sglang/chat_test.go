package sglang

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

func TestChat(t *testing.T) {
	var got map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != chatPath {
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&got)
		for _, e := range []string{
			`{"choices":[{"delta":{"role":"assistant","content":"","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":null}]}`,
			`{"choices":[{"delta":{"content":null,"reasoning_content":"hm","tool_calls":null},"finish_reason":null}]}`,
			`{"choices":[{"delta":{"content":"yes","tool_calls":null},"finish_reason":null}]}`,
			`{"choices":[{"delta":{},"finish_reason":"stop","matched_stop":7}]}`,
			`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`,
			"[DONE]",
		} {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	defer s.Close()
	c := newClient(engine.Endpoint{URL: s.URL})
	defer c.Close()
	c.manner.Store(&manner{model: "m", priority: 1, thought: -1})
	stream, err := c.Generate(t.Context(), turn.Job{
		ID: "t1", MaxTokens: 7, Salt: "s", Priority: 3, Sampling: turn.Sampling{Temperature: ptr(0.5), TopK: ptr(0), Seed: ptr(int64(4)), StopIDs: []uint32{5}},
		Chat: &turn.Turn{Messages: []turn.Message{{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: "hi"}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var text, thought string
	var end *turn.End
	for end == nil {
		d, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range d.Events {
			thought += e.Text
		}
		text, end = text+d.Text, d.End
	}
	if text != "yes" || thought != "hm" || end.Reason != turn.Ended || end.Usage != (turn.Usage{Prompt: 9, Output: 3, Cached: 4}) {
		t.Errorf("%q, %q, %+v", text, thought, end)
	}
	if rid, _ := got["rid"].(string); len(rid) != 32 {
		t.Errorf("rid is %q", rid)
	}
	delete(got, "rid")
	want := `map[cache_salt:s extra_key:s max_tokens:7 messages:[map[content:hi role:user]] model:m priority:3 seed:4 skip_special_tokens:false ` +
		`stop_token_ids:[5] stream:true stream_options:map[include_usage:true] temperature:0.5 top_k:-1]`
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// A chat that does not fit is told with the server's own numbers.
func TestLonger(t *testing.T) {
	var r *turn.Refused
	err := longer(fmt.Errorf("x: %w", &turn.Refused{Status: 400, Message: "The input (9 tokens) is longer than the model's context length (5 tokens)."}))
	if !errors.As(err, &r) || r.Prompt != 9 || r.Limit != 4 {
		t.Errorf("%+v", r)
	}
	if err := longer(&turn.Refused{Message: strings.Repeat("x", 10)}); !errors.As(err, &r) || r.Limit != 0 {
		t.Errorf("%+v", r)
	}
}
