package sim

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/sim/brain"
)

// TestRecordedChats replays the recorded chats: what is refused, with the
// server's words, and of the others what was said, why it ended and how long
// the prompt was, which is the template's work.
func TestRecordedChats(t *testing.T) {
	all := exchanges(t)
	r := start(t, qwen(t), recordedFlags...)
	for _, name := range []string{
		"chat", "chat-stream", "chat-enable-thinking-false", "chat-too-long",
		"chat-tools-auto", "chat-tools-named", "chat-tools-required", "chat-tools-required-stream",
	} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			want := chatted(t, all[name].Response)
			r.script.say(brain.Answer{IDs: r.folder.tok.Encode(nil, want.text+" and more of it")})
			status, body := r.post("/v1/chat/completions", bodyOf(all[name].Request))
			got := chatted(t, "HTTP/1.1 200 OK\r\n\r\n"+body)
			got.status = status
			if name == "chat-enable-thinking-false" {
				got.text, want.text = "", "" // two tokens of it, which are not those of its text
			}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
	r.t = t
}

// heard is what a chat answered.
type heard struct {
	status          int
	text, reasoning string
	calls           string
	finish          string
	prompt, made    int64
	fault           string
}

// chatted reads an answer, a stream or a document.
func chatted(t *testing.T, response string) heard {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(response)), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	h := heard{status: resp.StatusCode}
	docs := []string{string(body)}
	if strings.HasPrefix(docs[0], "data: ") {
		docs = strings.Split(docs[0], "data: ")
	}
	for _, doc := range docs {
		v := gjson.Parse(doc)
		h.fault += v.Get("error").Raw
		for _, m := range []string{"choices.0.delta", "choices.0.message"} {
			h.text += v.Get(m + ".content").Str
			h.reasoning += v.Get(m + ".reasoning").Str
			v.Get(m + ".tool_calls").ForEach(func(_, c gjson.Result) bool {
				h.calls += c.Get("function.name").Str + c.Get("function.arguments").Str
				return true
			})
		}
		if s := v.Get("choices.0.finish_reason").Str; s != "" {
			h.finish = s
		}
		if u := v.Get("usage"); u.IsObject() {
			h.prompt, h.made = u.Get("prompt_tokens").Int(), u.Get("completion_tokens").Int()
		}
	}
	return h
}

// bodyOf is what a recorded request asked.
func bodyOf(request string) string {
	_, body, _ := strings.Cut(request, "\r\n\r\n")
	return body
}

// TestChatParsers: with its parsers the server reads reasoning and calls out of
// what the model says, streamed or not; without them it is text.
func TestChatParsers(t *testing.T) {
	const say = "<think>\nhm\n</think>\n\nso\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1.0}}\n</tool_call>"
	ask := func(r *rig, more string) heard {
		r.script.say(brain.Answer{IDs: append(r.folder.tok.Encode(nil, say), r.folder.end)})
		status, body := r.post("/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"skip_special_tokens":false,
			"tools":[{"type":"function","function":{"name":"f"}}]`+more+`}`)
		h := chatted(t, "HTTP/1.1 200 OK\r\n\r\n"+body)
		h.status, h.prompt, h.made = status, 0, 0
		return h
	}
	r := start(t, nil, "--tool-call-parser", "hermes", "--enable-auto-tool-choice", "--reasoning-parser", "qwen3")
	want := heard{status: 200, reasoning: "hm", text: "so", calls: `f{"a": 1.0}`, finish: "tool_calls"}
	for _, more := range []string{``, `,"stream":true`} {
		if got := ask(r, more); got != want {
			t.Errorf("%s: got  %+v\nwant %+v", more, got, want)
		}
	}
	plain := start(t, nil)
	if got := ask(plain, `,"tool_choice":"none"`); got.text != say || got.calls != "" || got.finish != "stop" {
		t.Errorf("without parsers: %+v", got)
	}
}

// TestChatImages: a picture is seen by its content, of a model that sees them.
func TestChatImages(t *testing.T) {
	ask := func(r *rig, url string) (int, string) {
		content, _ := json.Marshal([]any{
			map[string]any{"type": "text", "text": "what is it?"},
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}},
		})
		status, body := r.post("/v1/chat/completions", `{"messages":[{"role":"user","content":`+string(content)+`}],"max_tokens":1}`)
		return status, gjson.Get(body, "error.message").Str
	}
	r := start(t, nil, "--vision")
	if status, why := ask(r, "data:image/png;base64,AAAA"); status != 200 {
		t.Errorf("status %d: %s", status, why)
	}
	if status, why := ask(r, "http://127.0.0.1/x.png"); status != 400 || !strings.Contains(why, "only data URLs") {
		t.Errorf("an image elsewhere: status %d: %s", status, why)
	}
	if status, why := ask(start(t, nil), "data:image/png;base64,AAAA"); status != 400 || why != "At most 0 image(s) may be provided in one prompt." {
		t.Errorf("a model that sees none: status %d: %s", status, why)
	}
}
