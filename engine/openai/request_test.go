package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

func picture(data string) turn.Block {
	return turn.Block{Kind: turn.Image, Raw: json.RawMessage(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`)}
}

// TestImages: pictures stand between the texts; those of results behind all
// results; one that lies elsewhere is never handed on.
func TestImages(t *testing.T) {
	elsewhere := turn.Block{Kind: turn.Image, Raw: json.RawMessage(`{"type":"image_url","image_url":{"url":"http://169.254.169.254/"}}`)}
	got := string(AppendMessages(nil, []turn.Message{
		{Role: turn.User, Blocks: []turn.Block{says("a"), says("b"), picture("AA"), elsewhere, says("c")}},
		{Role: turn.User, Blocks: []turn.Block{picture("BB")}},
		{Role: turn.Assistant, Blocks: []turn.Block{calls("x", "f", `{}`), calls("y", "f", `{}`)}},
		{Role: turn.ToolRole, Blocks: []turn.Block{result("x", "1"), picture("CC"), result("y", "2"), picture("DD")}},
	}))
	want := `[{"role":"user","content":[{"type":"text","text":"a\nb"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}},{"type":"text","text":"[image]\nc"}]},` +
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,BB"}}]},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"y","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"x","name":"f","content":"1\n[image]"},` +
		`{"role":"tool","tool_call_id":"y","name":"f","content":"2\n[image]"},` +
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,CC"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,DD"}}]}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAppend(t *testing.T) {
	one := func(set func(*turn.Job)) string {
		j := turn.Job{Chat: &turn.Turn{Messages: []turn.Message{{Role: turn.User, Blocks: []turn.Block{says("hi")}}}}}
		set(&j)
		b := append(Append([]byte{'{'}, j, j.Chat.Tools == nil || j.Chat.Tools[0].Name != "unparsed"), '}')
		if !json.Valid(b) {
			t.Fatalf("this is no JSON: %s", b)
		}
		const head, tail = `{"messages":[{"role":"user","content":"hi"}]`, `,"stream":true,"stream_options":{"include_usage":true}}`
		return string(b[len(head) : len(b)-len(tail)])
	}
	tools := func(name, mode string) func(*turn.Job) {
		return func(j *turn.Job) {
			j.Chat.Tools = []turn.Tool{{Name: name}}
			j.Chat.ToolChoice = turn.ToolChoice{Mode: mode, Name: name}
		}
	}
	const f = `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]`
	for name, c := range map[string]struct {
		set  func(*turn.Job)
		want string
	}{
		"nothing":  {func(*turn.Job) {}, ``},
		"auto":     {tools("f", ""), f + `,"tool_choice":"auto"`},
		"required": {tools("f", "required"), f + `,"tool_choice":"required"`},
		"named":    {tools("f", "named"), f + `,"tool_choice":{"type":"function","function":{"name":"f"}}`},
		"one call": {func(j *turn.Job) { tools("f", "auto")(j); j.Chat.OneCall = true }, f + `,"parallel_tool_calls":false,"tool_choice":"auto"`},
		"unparsed": {tools("unparsed", "required"), `,"tools":[{"type":"function","function":{"name":"unparsed","parameters":{"type":"object","properties":{}}}}],"tool_choice":"none"`},
		"limits":   {func(j *turn.Job) { j.MaxTokens, j.Chat.Stop = 7, []string{"\n"} }, `,"stop":["\n"],"max_tokens":7`},
		"switches": {func(j *turn.Job) { j.Switches = json.RawMessage(`{"a": 1}`) }, `,"chat_template_kwargs":{"a": 1}`},
		"likely":   {func(j *turn.Job) { j.Sampling.Logprobs, j.Sampling.TopLogprobs = true, 2 }, `,"logprobs":true,"top_logprobs":2`},
		"any JSON": {func(j *turn.Job) { j.Format.Kind = turn.JSONObject }, `,"response_format":{"type":"json_object"}`},
		"schema": {
			func(j *turn.Job) {
				j.Format = turn.Format{Kind: turn.JSONSchema, Schema: json.RawMessage(`{"a": 1.0}`)}
			},
			`,"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":false,"schema":{"a": 1.0}}}`,
		},
	} {
		if got := one(c.set); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", name, got, c.want)
		}
	}
}

// TestSees: who refuses images does not see them, nor who leaves them out; who
// answers nothing does what was promised.
func TestSees(t *testing.T) {
	for name, c := range map[string]struct {
		tokens   int // of an image; -1 is refused, -2 is not answered
		promised bool
		want     bool
	}{
		"sees": {64, false, true}, "leaves it out": {0, false, false}, "refuses": {-1, false, false}, "is lost": {-2, false, false},
		"promised and sees": {64, true, true}, "promised and leaves it out": {0, true, false}, "promised and refuses": {-1, true, false},
		"promised and is lost": {-2, true, true},
	} {
		got := Sees(t.Context(), c.promised, func(ctx context.Context, j turn.Job) (turn.Stream, error) {
			n := 5
			for _, b := range j.Chat.Messages[0].Blocks {
				if shown(b) {
					n += c.tokens
				}
			}
			if n == 3 {
				return nil, turn.ErrLost
			}
			if n < 5 {
				return nil, &turn.Refused{Status: 400, Message: "At most 0 image(s) may be provided"}
			}
			sent := fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n", n)
			return NewStream(ctx, &body{Reader: strings.NewReader(sent)}, nil), nil
		})
		if got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
