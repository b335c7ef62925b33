package dialect

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// chunks returns the data of a chat stream.
func chunks(t *testing.T, wire []byte) (all []map[string]any) {
	t.Helper()
	events := parseSSE(t, wire)
	for i, e := range events {
		if e.raw != "[DONE]" {
			all = append(all, e.data)
		} else if i != len(events)-1 {
			t.Error("[DONE] before the end")
		}
	}
	return all
}

// of returns an event as one of a choice.
func of(choice int, e turn.Event) turn.Event {
	e.Choice = choice
	return e
}

// TestChoices mixes three answers to one question.
func TestChoices(t *testing.T) {
	events := []turn.Event{
		of(1, says("b")), of(0, says("a")), of(2, calls(0, "ls")[0]), of(2, turn.Event{Kind: turn.CallEnd}),
		of(1, done(turn.Cut)), of(1, says("late")), of(7, says("nobody's")), of(0, says("a")), of(2, done(turn.Called)), of(0, done(turn.Ended)),
	}
	tn := &turn.Turn{ID: "t", Model: "m", Dialect: turn.Chat, N: 3, IncludeUsage: true}
	enc := chat{}.Stream(tn)
	doc := chat{}.Document(tn)
	var wire []byte
	for _, e := range events {
		wire = enc.Event(wire, e)
		doc.Add(e)
	}
	texts, ends := [3]string{}, [3]string{}
	all := chunks(t, wire)
	for _, c := range all[:len(all)-1] {
		one := c["choices"].([]any)[0].(map[string]any)
		i := int(one["index"].(float64))
		text, _ := one["delta"].(map[string]any)["content"].(string)
		texts[i] += text
		if why, _ := one["finish_reason"].(string); why != "" {
			ends[i] += why
		}
	}
	if texts != [3]string{"aa", "b", ""} || ends != [3]string{"stop", "length", "tool_calls"} {
		t.Errorf("texts %q, ends %q", texts, ends)
	}
	usage := all[len(all)-1]["usage"].(map[string]any)
	if usage["prompt_tokens"] != 100.0 || usage["completion_tokens"] != 27.0 {
		t.Errorf("usage %v", usage)
	}
	status, body := doc.JSON()
	var got struct {
		Choices []struct {
			Index   int
			Message struct {
				Content   string
				ToolCalls []any `json:"tool_calls"`
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage struct {
			CompletionTokens int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(body, &got); err != nil || status != 200 {
		t.Fatal(status, err)
	}
	if len(got.Choices) != 3 || got.Choices[0].Message.Content != "aa" || got.Choices[1].FinishReason != "length" ||
		len(got.Choices[2].Message.ToolCalls) != 1 || got.Choices[2].Index != 2 || got.Usage.CompletionTokens != 27 {
		t.Errorf("got %s", body)
	}
}

// TestChoiceFails: one answer that fails ends all.
func TestChoiceFails(t *testing.T) {
	enc := chat{}.Stream(&turn.Turn{ID: "t", Model: "m", Dialect: turn.Chat, N: 2})
	wire := enc.Event(nil, of(1, says("b")))
	wire = enc.Event(wire, of(0, fails(turn.ErrLost)))
	wire = enc.Event(wire, of(1, says("c")))
	if s := string(wire); strings.Count(s, "[DONE]") != 1 || !strings.HasSuffix(s, "[DONE]\n\n") || strings.Contains(s, `"c"`) {
		t.Errorf("got %s", s)
	}
}

// probs returns log probabilities of tokens.
func probs(tokens ...string) (ps []turn.Logprob) {
	for i, s := range tokens {
		ps = append(ps, turn.Logprob{Token: s, Value: -0.5, Top: []turn.Logprob{{Token: s, Value: -0.5}, {Token: "é", Value: math.Inf(-i - 1)}}})
	}
	return ps
}

// TestLogprobs: all that the engine told reaches the client once, in the
// stream and in the document.
func TestLogprobs(t *testing.T) {
	events := []turn.Event{
		{Kind: turn.Says, Text: "Hel", Logprobs: probs("Hel")},
		{Kind: turn.Says, Text: "", Logprobs: probs("held")},
		{Kind: turn.Says, Text: "lo", Logprobs: probs("lo")},
		{Kind: turn.Finish, Reason: turn.Ended, Logprobs: probs("!")},
	}
	want := map[turn.Dialect]int{turn.Chat: 4, turn.Responses: 3} // text that never came has no place in responses
	for d, n := range want {
		tn := &turn.Turn{ID: "t", Model: "m", Dialect: d, Sampling: turn.Sampling{Logprobs: true, TopLogprobs: 2}}
		enc, doc := For(d).Stream(tn), For(d).Document(tn)
		var wire []byte
		for _, e := range events {
			wire = enc.Event(wire, e)
			doc.Add(e)
		}
		_, body := doc.JSON()
		parseSSE(t, wire)
		if got := strings.Count(string(body), `"top_logprobs":[`); got != n || !json.Valid(body) {
			t.Errorf("%s: %d in the document, want %d: %s", d, got, n, body)
		}
		stream := string(wire)
		if d == turn.Responses { // told with each piece, and again when the text is whole
			stream = stream[:strings.Index(stream, "event: response.output_text.done")]
		}
		if got := strings.Count(stream, `"top_logprobs":[`); got != n || !strings.Contains(stream, `"bytes":[195,169]`) || !strings.Contains(stream, `"logprob":-9999`) {
			t.Errorf("%s: %d in the stream, want %d: %s", d, got, n, stream)
		}
	}
	plain := responses{}.Stream(&turn.Turn{ID: "t", Model: "m"}) // not asked for
	if wire := plain.Event(nil, events[0]); strings.Contains(string(wire), "top_logprobs") {
		t.Errorf("got %s", wire)
	}
}

// TestExtra: nvext of an answer is where each API has room for it.
func TestExtra(t *testing.T) {
	extra := json.RawMessage(`{"worker_id":{"decode_worker_id":"w1"}}`)
	for d := range clients {
		tn := &turn.Turn{ID: "t", Model: "m", Dialect: d}
		enc, doc := For(d).Stream(tn), For(d).Document(tn)
		last := done(turn.Ended)
		last.Extra = extra
		wire := enc.Event(enc.Event(nil, says("x")), last)
		doc.Add(says("x"))
		doc.Add(last)
		parseSSE(t, wire)
		_, body := doc.JSON()
		for _, s := range []string{string(wire), string(body)} {
			if strings.Count(s, `"nvext":`+string(extra)) != 1 {
				t.Errorf("%s: got %s", d, s)
			}
		}
		if !json.Valid(body) {
			t.Errorf("%s: %s", d, body)
		}
	}
}

// TestStored: a response says what it goes on from, and whether it is kept.
func TestStored(t *testing.T) {
	got := decoded(t, turn.Responses, `{"model":"m","input":"x","previous_response_id":"resp_1"}`)
	if !got.Store || got.Previous != "resp_1" {
		t.Errorf("store %v, previous %q", got.Store, got.Previous)
	}
	doc := responses{}.Document(got)
	doc.Add(done(turn.Ended))
	if _, body := doc.JSON(); !strings.Contains(string(body), `"previous_response_id":"resp_1","store":true`) {
		t.Errorf("got %s", body)
	}
	if got := decoded(t, turn.Responses, `{"model":"m","input":"x","store":false}`); got.Store {
		t.Error("stored")
	}
}

// TestInput reads requests to count an input.
func TestInput(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"m"}`:                                         `user ""`,
		`{"model":"m","input":"x"}`:                             `user "x"`,
		`{"model":"m","input":[],"instructions":"i"}`:           "system \"i\"\nuser \"\"",
		`{"model":"m","input":[{"role":"user","content":"y"}]}`: `user "y"`,
	} {
		got, err := DecodeInput([]byte(body), nil)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if s := sketch(got.Messages); s != want {
			t.Errorf("%s: got %s", body, s)
		}
	}
	if got := string(InputJSON(7)); got != `{"object":"response.input_tokens","input_tokens":7}` {
		t.Errorf("got %s", got)
	}
}

// TestResponseOf follows the ids of a response's items back to it.
func TestResponseOf(t *testing.T) {
	tn := &turn.Turn{ID: "t0123456789abcdef", Model: "m", Dialect: turn.Responses}
	doc := responses{}.Document(tn)
	for _, e := range join(think("a"), says("b"), calls(0, "c"), done(turn.Called)) {
		doc.Add(e)
	}
	_, body := doc.JSON()
	var got struct {
		ID     string
		Output []struct{ ID string }
	}
	if err := json.Unmarshal(body, &got); err != nil || len(got.Output) != 3 {
		t.Fatal(err, string(body))
	}
	for _, item := range got.Output {
		if id, ok := ResponseOf(item.ID); !ok || id != got.ID {
			t.Errorf("%s is of %s, not %s", item.ID, got.ID, id)
		}
	}
	for _, id := range []string{"", "x", "msg_", "msg_1", "__"} {
		if of, ok := ResponseOf(id); ok {
			t.Errorf("%q is of %q", id, of)
		}
	}
}
