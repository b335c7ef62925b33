package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// streamed makes a body one that asks for a stream.
func streamed(body string) string {
	return strings.Replace(body, `{"model":"sim",`, `{"model":"sim","stream":true,`, 1)
}

// TestBug19_TextThinkingCall (ollama/ollama#17101) and TestBug21
// (sgl-project/sglang#25876): text, then thinking, then a call, as a model may
// say it, makes blocks that are numbered and closed.
func TestBug19_TextThinkingCall(t *testing.T) {
	b := newScripted(t, "")
	b.play = b.saying("Let me see. ", "<think>", "hm ", "so</think>", "Yes.\n<tool_call>\n{\"name\": \"Read\", \"argu", "ments\": {\"p\": 1}}\n</tool_call>")
	answer := b.ok(messagesPath, streamed(conversations()[0].first))
	open, next := false, 0
	for line := range strings.Lines(answer) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		e := doc(t, data)
		switch e["type"] {
		case "content_block_start":
			if open || int(num(e["index"])) != next {
				t.Errorf("open %v, want index %d: %s", open, next, data)
			}
			open = true
		case "content_block_delta":
			if !open || int(num(e["index"])) != next {
				t.Errorf("open %v, want index %d: %s", open, next, data)
			}
		case "content_block_stop":
			open = false
			next++
		}
	}
	if open || next < 2 {
		t.Errorf("%d blocks, open %v: %s", next, open, answer)
	}
	ordered(t, answer, `"type":"tool_use"`, `"name":"Read"`, `"content_block_stop"`, `"stop_reason":"tool_use"`)
}

func TestBug21_ErrorsAreNo500(t *testing.T) {
	b := newScripted(t, "")
	b.play = func(context.Context, turn.Job) (turn.Stream, error) {
		return nil, fmt.Errorf("generate: %w", &turn.Refused{Status: 400, Message: "bad stop"})
	}
	for _, c := range conversations() {
		if status, answer := b.post(t.Context(), c.path, streamed(c.first)); status != 400 || !strings.Contains(answer, "bad stop") {
			t.Errorf("%s: %d %s", c.name, status, answer)
		}
	}
}

// TestBug22_CallsComeAtOnce (ai-dynamo/dynamo#7114): a call is whole at the
// client while the model still speaks.
func TestBug22_CallsComeAtOnce(t *testing.T) {
	whole := map[string]string{"messages": "content_block_stop", "responses": "response.output_item.done", "chat": `"arguments":`}
	for _, c := range conversations() {
		t.Run(c.name, func(t *testing.T) {
			b := newScripted(t, "")
			seen := make(chan struct{})
			b.play = func(ctx context.Context, j turn.Job) (turn.Stream, error) {
				first := b.deltas("<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"p\": 1}}\n</tool_call>")
				rest := b.deltas("<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"p\": 2}}\n</tool_call>")
				rest[0].End = &turn.End{Reason: turn.Ended}
				return &halves{script{ctx, first}, seen, script{ctx, rest}}, nil
			}
			told := false
			for line := range b.follow(c.path, streamed(c.first)) {
				if !told && strings.Contains(line, whole[c.name]) && !strings.Contains(line, `"arguments":""`) {
					told = true
					close(seen) // else the model would wait for ever
				}
			}
			if !told {
				t.Error("the first call never came")
			}
		})
	}
}

// halves plays the second script only when somebody has seen the first.
type halves struct {
	script
	seen <-chan struct{}
	rest script
}

func (h *halves) Next() (turn.Delta, error) {
	if len(h.deltas) > 0 {
		return h.script.Next()
	}
	select {
	case <-h.seen:
		return h.rest.Next()
	case <-h.ctx.Done():
		return turn.Delta{}, context.Cause(h.ctx)
	}
}

// TestBug32_GoesOnAfterASentence (lmstudio-ai/lmstudio-bug-tracker#2164): a
// thinking model with tools says a sentence and calls; both arrive.
func TestBug32_GoesOnAfterASentence(t *testing.T) {
	b := newScripted(t, "")
	b.play = b.saying("<think>\nI will read.\n</think>\n\n", "I will read the file.", "\n\n<tool_call>\n{\"name\": \"Read\", \"arguments\": {}}\n</tool_call>")
	for _, c := range conversations() {
		answer := b.ok(c.path, c.first)
		ordered(t, answer, "I will read the file.", "Read")
		if id := c.callID(doc(t, answer)); id == "" && c.name == "chat" {
			t.Errorf("no call in %s", answer)
		}
	}
}

// TestBug44_StreamsEnd (ollama/ollama#14600), TestBug45 (#17118), TestBug46
// (ai-dynamo/dynamo#12442), TestBug60 (anomalyco/opencode#46886): an engine
// that is lost or breaks off in mid-stream ends the stream with an error that
// says what it was, and the turn counts as failed.
func TestBug44_StreamsEnd(t *testing.T) {
	for _, c := range conversations() {
		b := newScripted(t, "") // each its own: a worker that fails again and again gets no turns for a while
		b.play = b.breaking(fmt.Errorf("read: %w", turn.ErrLost), "so ", "far")
		answer := b.ok(c.path, streamed(c.first))
		last := map[string]string{"messages": "event: error", "responses": "event: response.failed", "chat": "data: [DONE]"}[c.name]
		ordered(t, answer, "far", last)
	}
}

func TestBug45_EndsAfterReasoning(t *testing.T) {
	b := newScripted(t, "")
	b.play = b.breaking(fmt.Errorf("read: %w", turn.ErrLost), "<think>hm")
	ordered(t, b.ok(responsesPath, streamed(conversations()[2].first)), "hm", "event: response.failed", `"error":{"code":"server_error","message":"`)
}

func TestBug46_CountsAsFailed(t *testing.T) {
	b := newScripted(t, "")
	b.play = b.breaking(fmt.Errorf("the engine said nonsense"), "so far")
	answer := b.ok(responsesPath, streamed(conversations()[2].first))
	if strings.Contains(answer, `"error":null}}`) || !strings.Contains(answer, "response.failed") {
		t.Errorf("got %s", answer)
	}
	b.until("the turn is counted", func() bool { return b.s.Snapshot().Totals.Turns == 1 })
	if n := b.s.Snapshot().Totals.Failed; n != 1 {
		t.Errorf("%d failed", n)
	}
}

func TestBug60_LostWhileThinking(t *testing.T) {
	b := newScripted(t, "")
	b.play = b.breaking(fmt.Errorf("read: %w", turn.ErrLost), "<think>hm")
	ordered(t, b.ok(chatPath, streamed(conversations()[1].first)), "hm", `data: {"error":`, "data: [DONE]")
}

// TestBug50_SplitArguments (musistudio/claude-code-router#1397): thinking,
// then calls, each token of them alone.
func TestBug50_SplitArguments(t *testing.T) {
	text := "<think>\nhm\n</think>\n\n<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"path\": \"/a\", \"limit\": 2}}\n</tool_call>"
	b := newScripted(t, "")
	b.play = b.saying(strings.Split(text, "")...)
	for _, c := range conversations() {
		answer := strings.ReplaceAll(b.ok(c.path, c.first), `\"`, `"`)
		ordered(t, answer, "Read")
		ordered(t, answer, `"path": "/a"`, `"limit": 2`)
		if strings.Contains(answer, "tool_call>") || strings.Contains(answer, "think>") {
			t.Errorf("%s: markers in %s", c.name, answer)
		}
	}
}

// TestBug59_CallInThinking (anomalyco/opencode#7185): a call that follows
// thinking, or ends it, is a call.
func TestBug59_CallInThinking(t *testing.T) {
	call := "<tool_call>\n{\"name\": \"Read\", \"arguments\": {}}\n</tool_call>"
	b := newScripted(t, "")
	for _, text := range []string{"<think>hm</think>" + call, "<think>hm\n" + call} {
		b.play = b.saying(text)
		answer := b.ok(chatPath, conversations()[1].first)
		if str(dig(doc(t, answer), "choices", 0, "finish_reason")) != "tool_calls" {
			t.Errorf("%q: %s", text, answer)
		}
	}
}

// TestBug61_NaturalEnd (waybarrios/vllm-mlx#628): it has a reason.
func TestBug61_NaturalEnd(t *testing.T) {
	b := newScripted(t, "")
	ordered(t, b.ok(chatPath, streamed(conversations()[1].first)), `"finish_reason":"stop"`, "data: [DONE]")
}

// TestBug65_ReasoningIsReplayed (ollama/ollama#12158): reasoning that comes
// back with the history reaches a template that takes it.
func TestBug65_ReasoningIsReplayed(t *testing.T) {
	b := newScripted(t, strictTemplate)
	b.ok(chatPath, `{"model":"sim","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","reasoning_content":"DEEP","tool_calls":[{"id":"c","type":"function","function":{"name":"Read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}`)
	ordered(t, b.prompts()[0], "<think>DEEP</think>", "Read")
}

// silence is a worker that says nothing until it is let.
func silence(until <-chan struct{}, then player) player {
	return func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		s, err := then(ctx, j)
		return &mute{until, s}, err
	}
}

type mute struct {
	until <-chan struct{}
	turn.Stream
}

func (m *mute) Next() (turn.Delta, error) {
	<-m.until
	return m.Stream.Next()
}

// TestBug48_SlowPrefill (openai/codex#31539) and TestBug49
// (BenedictKing/ccx#67): while nothing comes, each client gets events of the
// kind that it counts.
func TestBug48_SlowPrefill(t *testing.T) {
	for _, c := range conversations() {
		t.Run(c.name, func(t *testing.T) {
			said := make(chan struct{})
			b := newScripted(t, "")
			b.s.pingEvery = 5 * time.Millisecond
			b.play = silence(said, b.saying("ok"))
			sign := map[string]string{"messages": "event: ping", "responses": "event: response.in_progress", "chat": `"delta":{}`}[c.name]
			lines := b.follow(c.path, strings.Replace(c.first, `{"model":"sim",`, `{"model":"sim","stream":true,`, 1))
			seen := 0
			for line := range lines {
				if strings.Contains(line, sign) {
					if seen++; seen == 3 {
						close(said)
					}
				}
			}
			if seen < 3 {
				t.Errorf("%d signs of life", seen)
			}
		})
	}
}
