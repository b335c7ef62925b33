package completion

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// FuzzDecode: a body is a turn with one kind of prompt, or a problem that is
// no fault of ours; whatever the turn, its answers are JSON.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","prompt":"a"}`, `{"model":"m","prompt":[1,2]}`, `{"model":"m","prompt":["a"],"n":2,"logprobs":3,"stream":true}`,
		`{"model":"m","prompt":[[1]],"echo":false,"best_of":1,"suffix":""}`, `{"model":"m","prompt":"a","messages":5,"tools":[1],"tool_choice":{}}`,
		`{"model":"m","prompt":["a",[1],"b"],"n":2,"best_of":3}`, `{"model":"m","prompt":"a","echo":true,"include_stop_str_in_output":true}`, `{"prompt":`, `[]`, `{"model":"m","prompt":"a","prompt":[1]}`, "{\"model\":\"m\",\"prompt\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		tn, err := Codec{}.Decode(body, nil, nil)
		if err != nil {
			var p *dialect.Problem
			if !errors.As(err, &p) || p.StatusFor(turn.Completions) >= 500 {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, p := range tn.Prompts {
			if (p.Text == "") == (p.IDs == nil) {
				t.Fatalf("text %q, %d ids", p.Text, len(p.IDs))
			}
		}
		if len(tn.Prompts) == 0 || tn.Messages != nil || tn.MaxTokens < 1 || tn.Best > 0 && tn.Best >= tn.N {
			t.Fatalf("%d prompts, %d messages, limit %d, %d of %d", len(tn.Prompts), len(tn.Messages), tn.MaxTokens, tn.Best, tn.N)
		}
		if tn.Answers() > 512 {
			return
		}
		doc := Codec{}.Document(tn)
		for i := range tn.Answers() {
			text := tn.Prompts[i/max(tn.N, 1)].Text
			doc.Add(turn.Event{Kind: turn.Says, Text: text, Choice: i, Logprobs: []turn.Logprob{{Token: text}}})
			doc.Add(turn.Event{Kind: turn.Finish, Reason: turn.Ended, Choice: i})
		}
		if status, b := doc.JSON(); status != 200 || !json.Valid(b) {
			t.Fatalf("%d %s", status, b)
		}
	})
}

// TestStreamEndsOnce: after the last of several answers come usage and mark,
// and nothing after them; a fault ends it too.
func TestStreamEndsOnce(t *testing.T) {
	tn := &turn.Turn{ID: "t1", Model: "m", N: 2, IncludeUsage: true}
	enc := Codec{}.Stream(tn)
	var out []byte
	out = enc.Ping(enc.Open(out, turn.Usage{}))
	for i := range 2 {
		out = enc.Event(out, turn.Event{Kind: turn.Says, Text: "a\n", Choice: i})
		out = enc.Event(out, turn.Event{Kind: turn.Finish, Reason: turn.Cut, Choice: i, Usage: turn.Usage{Prompt: 5, Cached: 1, Output: 2}})
	}
	end := len(out)
	out = enc.Event(out, turn.Event{Kind: turn.Says, Text: "late"})
	out = enc.Ping(out)
	out = enc.Event(out, turn.Event{Kind: turn.Fail, Err: errors.New("late")})
	if len(out) != end {
		t.Errorf("after the end: %s", out[end:])
	}
	const want = `"usage":{"prompt_tokens":5,"completion_tokens":4,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":1}}}` + "\n\ndata: [DONE]\n\n"
	if got := string(out); len(got) < len(want) || got[len(got)-len(want):] != want {
		t.Errorf("ends in %s", got)
	}
	enc = Codec{}.Stream(tn)
	if got := string(enc.Event(nil, turn.Event{Kind: turn.Fail, Err: turn.ErrLost})); got == "" || got[len(got)-14:] != "data: [DONE]\n\n" {
		t.Errorf("a fault: %s", got)
	}
}
