package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// chatJob is a turn that goes to the server's chat API.
func chatJob() turn.Job {
	return turn.Job{
		ID: "t1", Prompt: turn.IDsOf(1, 2), MaxTokens: 7, Salt: "s", Priority: 10, Stop: []string{"</tool_call>"},
		Sampling: turn.Sampling{Temperature: ptr(0.5), StopIDs: []uint32{9}, Logprobs: true, TopLogprobs: 2},
		Switches: json.RawMessage(`{"enable_thinking": false}`),
		Chat: &turn.Turn{
			Messages: []turn.Message{{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: "hi"}}}},
			Tools:    []turn.Tool{{Name: "f"}}, Stop: []string{"END"},
		},
	}
}

// TestChat: what is asked for, and that a server without a parser of calls is
// asked to choose none, the first time after it has refused.
func TestChat(t *testing.T) {
	noParser := recorded(t)["chat-tools-auto"].Response
	noParser = noParser[strings.Index(noParser, "{"):]
	var asked []map[string]any
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var got map[string]any
		_ = json.NewDecoder(r.Body).Decode(&got)
		asked = append(asked, got)
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("X-Request-Id") != "t1" {
			t.Errorf("asked at %s with id %s", r.URL.Path, r.Header.Get("X-Request-Id"))
		}
		if got["tool_choice"] == "auto" {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, noParser)
			return
		}
		io.WriteString(w, `data: {"choices":[{"delta":{"content":"<tool_call>"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})
	for range 2 {
		a := readAll(c.Generate(t.Context(), chatJob()))
		if a.err != nil || a.text != "<tool_call>" || a.end.Reason != turn.Ended {
			t.Fatalf("answer is %+v", a)
		}
	}
	if len(asked) != 3 || asked[1]["tool_choice"] != "none" || asked[2]["tool_choice"] != "none" {
		t.Fatalf("asked %d times: %v", len(asked), asked)
	}
	const want = `map[cache_salt:s chat_template_kwargs:map[enable_thinking:false] logprobs:true max_tokens:7 ` +
		`messages:[map[content:hi role:user]] model:ti"ny priority:-10 skip_special_tokens:false ` +
		`spaces_between_special_tokens:false stop:[END] stop_token_ids:[9] stream:true stream_options:map[include_usage:true] ` +
		`temperature:0.5 tool_choice:none tools:[map[function:map[name:f parameters:map[properties:map[] type:object]] type:function]] top_logprobs:2]`
	if fmt.Sprint(asked[2]) != want {
		t.Errorf("got  %v\nwant %v", asked[2], want)
	}
}

// TestChatRefused: a prompt that is too long is told with its tokens, which
// only the server knows; a refusal that is not about tools is told as it is.
func TestChatRefused(t *testing.T) {
	long := recorded(t)["chat-too-long"].Response
	for name, c := range map[string]struct {
		body          string
		prompt, limit int
	}{
		"too long": {long[strings.Index(long, "{"):], 4097, 4095},
		"bad":      {`{"error":{"message":"bad image","code":400}}`, 0, 0},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, c.body)
		})
		_, err := s.Generate(t.Context(), chatJob())
		var r *turn.Refused
		if !errors.As(err, &r) || r.Prompt != c.prompt || r.Limit != c.limit || s.unparsed.Load() {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
