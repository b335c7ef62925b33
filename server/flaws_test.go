package server

import (
	"context"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/turn"
)

// TestFlawsAreCounted: what was wrong with calls is shown, so that nothing is
// mended in silence.
func TestFlawsAreCounted(t *testing.T) {
	b := newScripted(t, "")
	chat := conversations()[0]
	for _, text := range []string{
		"<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"path\": \"/a\"}}\n</tool_call>",
		"<tool_call>\n{\"name\": \"Read\", \"arguments\": {'path': '/a'}}\n</tool_call>",
		"<tool_call>\n{\"name\": \"Nobody\", \"arguments\": {\"path\": \"/a\"}}\n</tool_call>",
	} {
		b.play = b.saying(text)
		b.ok(chat.path, chat.first)
	}
	r := &rig{t: t, path: b.path}
	for i, row := range r.rows(3) {
		if want := []int{0, 1, 1}[i]; row.Flawed != want {
			t.Errorf("turn %d has %d flawed calls, want %d", i, row.Flawed, want)
		}
	}
	for i, want := range []int64{1, 0, 1, 0} {
		if got := b.s.count.flaws[i].Load(); got != want {
			t.Errorf("%s: %d calls, want %d", flawNames[i], got, want)
		}
	}
}

// TestCallsThatNobodyWants: where the client wants no calls, what a model
// writes of one all the same is neither text nor a call, and is counted. Without
// tools it is text.
func TestCallsThatNobodyWants(t *testing.T) {
	const markup = "<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"path\": \"/a\"}}\n</tool_call>"
	none := []string{`,"tool_choice":{"type":"none"}`, `,"tool_choice":"none"`, `,"tool_choice":"none"`}
	for i, c := range conversations() {
		t.Run(c.name, func(t *testing.T) {
			b := newScripted(t, "")
			b.play = b.saying("Here: ", markup, markup, " so.")
			for j, stream := range []string{"", `,"stream":true`} {
				said := b.ok(c.path, strings.TrimSuffix(c.first, "}")+none[i]+stream+"}")
				for _, markup := range []string{"tool_call>", `/a`, `"tool_use"`, `"tool_calls":`, `"function_call"`, `"finish_reason":"tool_calls"`} {
					if strings.Contains(said, markup) {
						t.Errorf("%s is in %s", markup, said)
					}
				}
				if !strings.Contains(said, "Here:") || !strings.Contains(said, "so.") {
					t.Errorf("the text is missing: %s", said)
				}
				if got, want := b.s.count.unwanted.Load(), int64(2*(j+1)); got != want {
					t.Errorf("%d calls counted, want %d", got, want)
				}
			}
			said := b.ok(c.path, []string{
				`{"model":"sim","max_tokens":200,"messages":[{"role":"user","content":"show me"}]}`,
				`{"model":"sim","messages":[{"role":"user","content":"show me"}]}`,
				`{"model":"sim","input":"show me"}`,
			}[i])
			if !strings.Contains(said, "tool_call") {
				t.Errorf("without tools the markup is text: %s", said)
			}
		})
	}
}

// TestCallsOfTheEngineThatNobodyWants: a call that the engine has read out of
// its answer itself, on the chat path, is dropped like one that we read.
func TestCallsOfTheEngineThatNobodyWants(t *testing.T) {
	at := turn.Call{Index: 0, Name: "f"}
	st := newStage(t, chatter("calls", func(ctx context.Context, _ turn.Job) (turn.Stream, error) {
		return &script{ctx, []turn.Delta{
			{Text: "so"},
			{Events: []turn.Event{{Kind: turn.CallStart, Call: at}, {Kind: turn.CallArgs, Call: at, Text: "{}"}}}, // and it never ends
			{End: &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: 9, Output: 9}}},
		}}, nil
	}))
	for i, stream := range []string{"", `,"stream":true`} {
		status, got := st.post(t.Context(), chatPath, says("hi", `,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"`+stream))
		if status != 200 || strings.Contains(got, "tool_calls") || !strings.Contains(got, `"so"`) {
			t.Errorf("%d %s", status, got)
		}
		if end := gjson.Get(got, "choices.0.finish_reason").Str; stream == "" && end != "stop" {
			t.Errorf("it ended with %q", end)
		}
		if n := st.s.count.unwanted.Load(); n != int64(i+1) {
			t.Errorf("%d calls counted, want %d", n, i+1)
		}
	}
}
