package server

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/turn"
)

// TestEndlessIsCut: an engine that minds no limit is not listened to for ever.
func TestEndlessIsCut(t *testing.T) {
	one := turn.Delta{Text: " word", IDs: []uint32{300}}
	st := newStage(t, &puppet{name: "w0", caps: caps(4000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		return endless{ctx, one}, nil
	}})
	status, got := st.post(t.Context(), chatPath, says("hi", `,"max_tokens":50`))
	if n := strings.Count(got, " word"); status != 200 || gjson.Get(got, "choices.0.finish_reason").Str != "length" || n < 50 || n > 200 {
		t.Errorf("%d words, %d %.300s", n, status, got)
	}
}

// endless says the same until it is closed.
type endless struct {
	ctx context.Context
	one turn.Delta
}

func (e endless) Next() (turn.Delta, error) { return e.one, context.Cause(e.ctx) }
func (e endless) Close() error              { return nil }

// TestNamedCallIsHeld: the arguments of a tool that must be called are held to
// its schema where a worker can, and the call is completed behind them; a
// schema that the engine refuses is left a wish.
func TestNamedCallIsHeld(t *testing.T) {
	const ask = `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}}],
		"tool_choice":{"type":"function","function":{"name":"f"}}`
	answer := func(ctx context.Context, j turn.Job, text string) turn.Stream {
		end := &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: 4}}
		return &script{ctx, []turn.Delta{{Text: text[:2]}, {Text: text[2:], End: end}}}
	}
	for name, c := range map[string]struct {
		formats, refuses bool
		says, free       string // held, and not
		asked            int32
	}{
		"held":       {true, false, `{"a": 1}`, "", 1},
		"refused":    {true, true, "", "{\"a\": 1}}\n</tool_call>", 2},
		"cannot":     {false, false, "", "{\"a\": 1}}\n</tool_call>", 1},
		"ends alone": {true, false, "{\"a\": 1}}\n</tool_call>", "", 1}, // a server that holds nothing
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			p := &puppet{name: "w0", caps: caps(4000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
				asked.Add(1)
				switch held := j.Format.Kind == turn.JSONSchema; {
				case held && c.refuses:
					return nil, &turn.Refused{Status: 400, Message: "this schema is not supported"}
				case held:
					if !strings.Contains(string(j.Format.Schema), "integer") {
						t.Errorf("held to %s", j.Format.Schema)
					}
					return answer(ctx, j, c.says), nil
				}
				return answer(ctx, j, c.free), nil
			}}
			p.caps.Formats = c.formats
			st := newStage(t, p)
			status, got := st.post(t.Context(), chatPath, says("hi", ask))
			call := gjson.Get(got, "choices.0.message.tool_calls.0.function")
			if status != 200 || call.Get("name").Str != "f" || call.Get("arguments").Str != `{"a": 1}` || gjson.Get(got, "choices.0.finish_reason").Str != "tool_calls" {
				t.Errorf("%d %s", status, got)
			}
			if text := gjson.Get(got, "choices.0.message.content").Str; text != "" || asked.Load() != c.asked {
				t.Errorf("text %q, asked %d times", text, asked.Load())
			}
		})
	}
}
