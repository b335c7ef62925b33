package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// talk is a conversation of a client, by chat completions.
type talk struct {
	l       *lab
	session string
	head    map[string]string
	history []map[string]any
	full    bool // answers have all the tokens that they may have
}

// talk begins one, with a system prompt of so many words. Conversations begin
// with words of their own, so that none has another's blocks.
func (l *lab) talk(about string, words int) *talk {
	l.talks++
	session := fmt.Sprintf("%s-%d", about, l.talks)
	return &talk{
		l: l, session: session, head: map[string]string{"x-dyn-session-id": session},
		history: []map[string]any{{"role": "system", "content": "Case " + session + ". You answer in few words. " + prose(session, words)}},
	}
}

// at has the turns that follow run at one worker.
func (t *talk) at(worker string) *talk { t.head["x-dyn-worker"] = worker; return t }

// anywhere leaves it to dyn where the turns that follow run.
func (t *talk) anywhere() { delete(t.head, "x-dyn-worker") }

// say adds what the user says, without asking for an answer.
func (t *talk) say(text string) *talk {
	t.history = append(t.history, map[string]any{"role": "user", "content": text})
	return t
}

// body is the request for an answer of at most so many tokens.
func (t *talk) body(tokens int, stream bool) map[string]any {
	b := map[string]any{"model": t.l.k.model, "messages": t.history, "max_tokens": tokens, "temperature": 0, "stream": stream}
	if t.full {
		b["ignore_eos"] = true
	}
	if stream {
		b["stream_options"] = map[string]any{"include_usage": true}
	}
	return b
}

// reply is an answer as the client sees it.
type reply struct {
	text   string
	finish string
	usage  struct {
		Prompt  int `json:"prompt_tokens"`
		Output  int `json:"completion_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	first time.Duration // until text came
	total time.Duration
}

// chunk is a piece of an answer, or all of it.
type chunk struct {
	Choices []struct {
		Delta   struct{ Content string } `json:"delta"`
		Message struct{ Content string } `json:"message"`
		Finish  string                   `json:"finish_reason"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// answer asks for an answer, streamed, and keeps it in the history.
func (t *talk) answer(ctx context.Context, tokens int) (reply, error) {
	r, err := t.stream(ctx, tokens, nil)
	if err == nil {
		t.history = append(t.history, map[string]any{"role": "assistant", "content": r.text})
	}
	return r, err
}

// stream asks for a streamed answer; each is told of every piece of text.
func (t *talk) stream(ctx context.Context, tokens int, each func(text string)) (r reply, err error) {
	began := time.Now()
	resp, err := t.l.ask(ctx, "/v1/chat/completions", t.head, t.body(tokens, true))
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 600))
		return r, fmt.Errorf("%s: %s", resp.Status, text)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		if string(data) == "[DONE]" {
			r.total = time.Since(began)
			return r, nil
		}
		text, err := r.take(data)
		if err != nil {
			return r, err
		}
		if text != "" && r.first == 0 {
			r.first = time.Since(began)
		}
		if text != "" && each != nil {
			each(text)
		}
	}
	return r, fmt.Errorf("the stream ended without [DONE] after %d bytes of text: %w", len(r.text), lines.Err())
}

// take reads a piece of an answer.
func (r *reply) take(data []byte) (string, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return "", err
	}
	if len(c.Error) > 0 {
		return "", fmt.Errorf("error in the stream: %s", c.Error)
	}
	if len(c.Usage) > 0 {
		if err := json.Unmarshal(c.Usage, &r.usage); err != nil {
			return "", err
		}
	}
	text := ""
	for _, choice := range c.Choices {
		text += choice.Delta.Content + choice.Message.Content
		if choice.Finish != "" {
			r.finish = choice.Finish
		}
	}
	r.text += text
	return text, nil
}

// prose is a text of n words that depends on its seed.
func prose(seed string, n int) string {
	words := strings.Fields("the agent reads a file and finds that its cache holds older blocks while another worker waits for tokens of some long prompt which nobody asked about yet")
	h := uint32(2166136261)
	for _, c := range []byte(seed) {
		h = (h ^ uint32(c)) * 16777619
	}
	var b strings.Builder
	for range n {
		h = h*1664525 + 1013904223
		b.WriteString(words[int(h>>16)%len(words)])
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}
