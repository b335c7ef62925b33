package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/turn"
)

// picture is one in each dialect, as the content of a user's message.
func picture(d turn.Dialect, data string) string {
	data = base64.StdEncoding.EncodeToString([]byte(data))
	switch d {
	case turn.Messages:
		return `[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}]`
	case turn.Responses:
		return `[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,` + data + `"}]`
	}
	return `[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}]`
}

// asks is a request in each dialect with these messages of the user's.
func asks(d turn.Dialect, contents ...string) (path, body string) {
	var ms []string
	for i, c := range contents {
		role := []string{"user", "assistant"}[i%2]
		ms = append(ms, `{"role":"`+role+`","content":`+c+`}`)
	}
	list := "[" + strings.Join(ms, ",") + "]"
	switch d {
	case turn.Messages:
		return "/v1/messages", `{"model":"sim","max_tokens":50,"messages":` + list + `}`
	case turn.Responses:
		return "/v1/responses", `{"model":"sim","store":false,"input":` + list + `}`
	}
	return chatPath, `{"model":"sim","messages":` + list + `}`
}

// TestImagesTakeTheChatPath: a turn with images goes to the engine's own chat
// API, in every dialect, streamed or not, and back to the worker that had the
// same images before; turns without go by ids as ever.
func TestImagesTakeTheChatPath(t *testing.T) {
	r := newRig(t, 2, "--vision", brainFile(t, `
  - when: 'image [0-9a-f]+'
    say: A cat I see
`))
	n := 0
	for _, d := range []turn.Dialect{turn.Chat, turn.Messages, turn.Responses} {
		long := strings.Repeat("the same picture, closely looked at, ", 20)
		path, body := asks(d, picture(d, "cat"), `"`+long+`"`, picture(d, "dog of "+string(d)))
		for range 2 {
			status, got := r.post(path, body)
			if status != 200 || !strings.Contains(got, "A cat I see") {
				t.Fatalf("%s: %d %s", d, status, got)
			}
			n++
		}
		status, got := r.post(path, strings.TrimSuffix(body, "}")+`,"stream":true}`)
		if status != 200 || !strings.Contains(got, " I") {
			t.Fatalf("%s, streamed: %d %s", d, status, got)
		}
		n++
	}
	rows := r.rows(n)
	for i, row := range rows {
		if row.Chat != images || row.Outcome != "end" {
			t.Errorf("turn %d: chat path %q, %s %s", i, row.Chat, row.Outcome, row.Error)
		}
		if again := i%3 > 0; again && (row.Overlap == 0 || row.Cached < 100 || row.Worker != rows[i-1].Worker) {
			t.Errorf("turn %d: %d assumed and %d cached at %s, before at %s", i, row.Overlap, row.Cached, row.Worker, rows[i-1].Worker)
		}
	}
	if status, got := r.post(chatPath, says("hi", "")); status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	if row := r.rows(n + 1)[n]; row.Chat != "" {
		t.Errorf("a turn without images: %q", row.Chat)
	}
	if raw := r.s.models["sim"].raw.Bytes(); raw == 0 {
		t.Error("the turn by ids left no raw turn")
	}
}

// TestImagesOfResults: what a tool shows is an image like any other.
func TestImagesOfResults(t *testing.T) {
	r := newRig(t, 1, "--vision", brainFile(t, `
  - when: '(?s)contents.*image [0-9a-f]+'
    say: A dog.
`))
	status, got := r.post("/v1/messages", `{"model":"sim","max_tokens":50,"tools":[{"name":"Read","input_schema":{"type":"object"}}],"messages":[
		{"role":"user","content":"what is in it?"},
		{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Read","input":{"path":"a.png"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"contents"},
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}]}`)
	if row := r.rows(1)[0]; status != 200 || !strings.Contains(got, "A dog.") || row.Chat != images {
		t.Errorf("%d %s: chat path %q", status, got, row.Chat)
	}
	status, got = r.post("/v1/responses", `{"model":"sim","store":false,"input":[
		{"role":"user","content":"what is in it?"},
		{"type":"function_call","call_id":"c1","name":"Read","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"contents"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}]}`)
	if row := r.rows(2)[1]; status != 200 || !strings.Contains(got, "A dog.") || row.Chat != images {
		t.Errorf("%d %s: chat path %q", status, got, row.Chat)
	}
}

// TestHiddenStays: where nobody sees images, and of one that lies elsewhere,
// the model gets the fixed text, by ids.
func TestHiddenStays(t *testing.T) {
	r := newRig(t, 1, "--vision")
	status, got := r.post(chatPath, `{"model":"sim","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://127.0.0.1:1/x.png"}}]}]}`)
	if row := r.rows(1)[0]; status != 200 || row.Chat != "" || r.s.count.hidden.Load() != 1 {
		t.Errorf("%d %s: chat path %q", status, got, row.Chat)
	}
}

// TestStandIn: a model whose tokenizer dyn does not have is served by its
// engine's chat API in every dialect, counts are marked as guesses, and what
// needs the tokenizer is refused.
func TestStandIn(t *testing.T) {
	r := newRig(t, 2, brainFile(t, toolBrain))
	r.s.models["sim"].Stands = "its tokenizer is of another kind"
	long := strings.Repeat("again and again ", 50)
	for _, d := range []turn.Dialect{turn.Chat, turn.Messages, turn.Responses} {
		path, body := asks(d, `"`+long+string(d)+`"`)
		for range 2 {
			if status, got := r.post(path, body); status != 200 || !strings.Contains(got, "simulated engine") {
				t.Fatalf("%s: %d %s", d, status, got)
			}
		}
	}
	for i, row := range r.rows(6) {
		if row.Chat != "its tokenizer is of another kind" || i%2 == 1 && (row.Overlap == 0 || row.Cached == 0) {
			t.Errorf("turn %d: %+v", i, row)
		}
	}
	resp := r.send(t.Context(), "/v1/messages/count_tokens", `{"model":"sim","messages":[{"role":"user","content":"hi"}]}`)
	resp.Body.Close()
	if warn := resp.Header.Get(warnHeader); resp.StatusCode != 200 || !strings.Contains(warn, "approximate") {
		t.Errorf("count: %d, warning %q", resp.StatusCode, warn)
	}
	for path, body := range map[string]string{
		"/tokenize":       `{"prompt":"hi"}`,
		"/detokenize":     `{"tokens":[1]}`,
		"/v1/completions": `{"model":"sim","prompt":"hi"}`,
	} {
		if status, got := r.post(path, body); status != 400 || !strings.Contains(got, "of another kind") {
			t.Errorf("%s: %d %s", path, status, got)
		}
	}
	status, got := r.post(chatPath, says(strings.Repeat("word ", 300_000), ""))
	if status != 400 || !strings.Contains(got, "context") {
		t.Errorf("too long: %d %s", status, got)
	}
}

// TestChatPathTools: calls are read out of the answer by the engine where it
// has a parser, else by us; results go back.
func TestChatPathTools(t *testing.T) {
	for name, flags := range map[string][]string{
		"ours":    nil,
		"engines": {"--tool-call-parser", "hermes", "--enable-auto-tool-choice", "--reasoning-parser", "qwen3"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1, append(flags, brainFile(t, toolBrain))...)
			r.s.models["sim"].Stands = "because"
			const tools = `,"tools":[{"name":"Read","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}]`
			head := `{"model":"sim","max_tokens":500,"messages":[{"role":"user","content":"read the file"}`
			status, got := r.post("/v1/messages", head+`]`+tools+`}`)
			use := gjson.Get(got, `content.#(type=="tool_use")`)
			if status != 200 || gjson.Get(got, "stop_reason").Str != "tool_use" || use.Get("name").Str == "" || !strings.HasPrefix(use.Get("id").Str, "toolu_") {
				t.Fatalf("%d %s", status, got)
			}
			if text := gjson.Get(got, `content.#(type=="text").text`).Str; text != "Let me look." {
				t.Errorf("text %q", text)
			}
			result := `{"role":"assistant","content":` + gjson.Get(got, "content").Raw + `},{"role":"user","content":[{"type":"tool_result","tool_use_id":` + use.Get("id").Raw + `,"content":"contents of a"}]}`
			if status, got = r.post("/v1/messages", head+`,`+result+`]`+tools+`}`); status != 200 || !strings.Contains(got, "The file says a.") {
				t.Errorf("%d %s", status, got)
			}
			for _, row := range r.rows(2) {
				if row.Chat != "because" || row.Moved != 0 {
					t.Errorf("%+v", row)
				}
			}
		})
	}
}

// TestChatPathCancel: a client that leaves frees the engine, as ever.
func TestChatPathCancel(t *testing.T) {
	r := newRig(t, 1, brainFile(t, stallBrain))
	r.s.models["sim"].Stands = "because"
	conn := r.dial(t)
	io.WriteString(conn, request(chatPath, says("stall at once", "")))
	r.until("the turn is sent", func() bool { return r.s.Snapshot().Queue.Prefill == 1 })
	conn.Close()
	r.until("the engine is free", func() bool {
		w := r.s.Snapshot().Workers[0]
		return w.InFlight == 0 && w.Running == 0 && r.s.count.canceled.Load() == 1
	})
}

// chatter is a puppet that takes chats.
func chatter(name string, play func(ctx context.Context, j turn.Job) (turn.Stream, error)) *puppet {
	c := caps(1000)
	c.Chat = true
	return &puppet{name: name, caps: c, chat: "its template makes another prompt", play: play}
}

// TestFinding: a worker whose template makes another prompt gets chats, the
// others ids.
func TestFinding(t *testing.T) {
	var chats, ids atomic.Int32
	count := func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		if j.Chat != nil {
			chats.Add(1)
			if j.Prompt.Len() == 0 || j.Chat.Messages[0].Blocks[0].Text != "hi" || len(j.StopIDs) > 0 {
				t.Errorf("job %+v", j)
			}
		} else {
			ids.Add(1)
		}
		return aWord(ctx, j)
	}
	differs := chatter("differs", count)
	st := newStage(t, differs)
	st.post(t.Context(), chatPath, says("hi", ""))
	if w := st.s.Snapshot().Workers[0]; w.Path != "chat" || w.PathWhy != differs.chat {
		t.Errorf("shown: path %q, %q", w.Path, w.PathWhy)
	}
	same := chatter("same", count)
	same.chat = ""
	st.s.Remove("differs")
	st.s.Update(same)
	st.post(t.Context(), chatPath, says("hi", ""))
	if chats.Load() != 1 || ids.Load() != 1 {
		t.Errorf("%d chats, %d by ids", chats.Load(), ids.Load())
	}
}

// lostAfter plays deltas and then is lost.
func lostAfter(ds ...turn.Delta) func(ctx context.Context, j turn.Job) (turn.Stream, error) {
	return func(context.Context, turn.Job) (turn.Stream, error) {
		return &dying{ds}, nil
	}
}

type dying struct{ left []turn.Delta }

func (d *dying) Next() (turn.Delta, error) {
	if len(d.left) == 0 {
		return turn.Delta{}, fmt.Errorf("gone: %w", turn.ErrLost)
	}
	x := d.left[0]
	d.left = d.left[1:]
	return x, nil
}
func (d *dying) Close() error { return nil }

// TestChatPathLost: a chat that gave nothing yet goes to another worker; one of
// which the client has something ends with the dialect's fault, and so does an
// answer by ids that only a chat could go on with.
func TestChatPathLost(t *testing.T) {
	text := turn.Delta{Text: "half an"}
	thought := turn.Delta{Events: []turn.Event{{Kind: turn.Reasoning, Text: "hm"}}}
	byIDs := func(play func(context.Context, turn.Job) (turn.Stream, error)) *puppet {
		p := chatter("first", play)
		p.chat = ""
		return p
	}
	for name, c := range map[string]struct {
		first *puppet
		want  int32 // turns that the other worker got
	}{
		"nothing yet":   {chatter("first", lostAfter()), 1},
		"some text":     {chatter("first", lostAfter(text)), 0},
		"some thought":  {chatter("first", lostAfter(thought)), 0},
		"ids, nothing":  {byIDs(lostAfter()), 1},
		"ids, and text": {byIDs(lostAfter(turn.Delta{Text: "half", IDs: []uint32{300}})), 0},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			other := chatter("second", func(ctx context.Context, j turn.Job) (turn.Stream, error) {
				asked.Add(1)
				return aWord(ctx, j)
			})
			other.now = turn.Starting // so that the first is taken
			play := c.first.play
			st := newStage(t, c.first, other)
			c.first.play = func(ctx context.Context, j turn.Job) (turn.Stream, error) {
				other.set(turn.Ready)
				st.s.Update(other)
				if asked.Load() == 0 && name == "" {
					return nil, nil
				}
				return play(ctx, j)
			}
			status, got := st.post(t.Context(), chatPath, says("hi", `,"stream":true`))
			if asked.Load() != c.want {
				t.Errorf("the other worker got %d turns, want %d", asked.Load(), c.want)
			}
			if failed := strings.Contains(got, `"error"`); failed != (c.want == 0) || status != 200 {
				t.Errorf("%d %s", status, got)
			}
		})
	}
}

// TestChatPathLimits: an answer is cut where the client wants it, also where
// the engine was not told; of further calls than one the client hears nothing.
func TestChatPathLimits(t *testing.T) {
	long := make([]turn.Delta, 500)
	for i := range long {
		long[i].Text = " word"
	}
	endless := chatter("endless", func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		if j.MaxTokens != 0 {
			t.Errorf("told %d tokens, which the context may not leave", j.MaxTokens)
		}
		return &script{ctx, long}, nil
	})
	st := newStage(t, endless)
	status, got := st.post(t.Context(), chatPath, says(strings.Repeat("long ", 700), `,"max_tokens":200`))
	if status != 200 || gjson.Get(got, "choices.0.finish_reason").Str != "length" || strings.Count(got, " word") < 100 || strings.Count(got, " word") > 200 {
		t.Errorf("%d %s", status, got)
	}

	told := chatter("told", func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		if j.MaxTokens != 3 {
			t.Errorf("told %d tokens", j.MaxTokens)
		}
		ds := []turn.Delta{{Text: "one two three four five six"}, {Text: " seven", End: &turn.End{Reason: turn.Cut, Usage: turn.Usage{Prompt: 9, Output: 3}}}}
		return &script{ctx, ds}, nil
	})
	st = newStage(t, told)
	status, got = st.post(t.Context(), chatPath, says("hi", `,"max_tokens":3`))
	if status != 200 || !strings.Contains(got, "six seven") || gjson.Get(got, "usage.completion_tokens").Int() != 3 {
		t.Errorf("the engine's own count does not hold: %d %s", status, got)
	}

	call := func(i int) turn.Delta {
		at := turn.Call{Index: i, Name: "f"}
		return turn.Delta{Events: []turn.Event{{Kind: turn.CallStart, Call: at}, {Kind: turn.CallArgs, Call: at, Text: "{}"}, {Kind: turn.CallEnd, Call: at}}}
	}
	calls := chatter("calls", func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		return &script{ctx, []turn.Delta{call(0), call(1), {End: &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: 9, Output: 9}}}}}, nil
	})
	st = newStage(t, calls)
	const tools = `,"tools":[{"type":"function","function":{"name":"f"}}]`
	for more, want := range map[string]int{"": 2, `,"parallel_tool_calls":false`: 1} {
		status, got := st.post(t.Context(), chatPath, says("hi", tools+more))
		if n := len(gjson.Get(got, "choices.0.message.tool_calls").Array()); status != 200 || n != want || gjson.Get(got, "choices.0.finish_reason").Str != "tool_calls" {
			t.Errorf("%s: %d calls, %d %s", more, n, status, got)
		}
	}
}
