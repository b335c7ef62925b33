package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// said answers with events, as a daemon does, and hangs up.
func said(t *testing.T, status int, body string) served {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("asked for %s with key %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return served{URL: s.URL, Key: "k", Model: "m"}
}

func TestStream(t *testing.T) {
	delta := func(text string) string { return `data: {"choices":[{"delta":{"content":"` + text + `"}}]}` + "\n\n" }
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   runDoc
		code   code
		says   string
	}{
		{
			"whole", 200, ": beat\n\ndata: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n" + delta("a") + delta("b") +
				"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\ndata: [DONE]\n\n",
			runDoc{Text: "ab", Reasoning: "hm", Finish: "stop", Prompt: 9, Cached: 4, Output: 3},
			done, "",
		},
		{"a fault in mid-stream", 200, delta("a") + `data: {"error":{"message":"worker lost"}}` + "\n\n", runDoc{Text: "a"}, unhealthy, "worker lost"},
		{"no end", 200, delta("a"), runDoc{Text: "a"}, unhealthy, "broke off"},
		{"no events", 200, "data: {\n\n", runDoc{}, failed, "no answer"},
		{"refused", 400, `{"error":{"message":"too long"}}`, runDoc{}, usage, "too long"},
		{"too long", 400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`, runDoc{}, usage, "too long"},
		{"no key", 401, `{"error":{"message":"no such key"}}`, runDoc{}, usage, "no such key"},
		{"no worker", 503, `{"error":{"message":"no worker is ready"}}`, runDoc{}, unhealthy, "no worker is ready"},
		{"no words", 502, `<html>`, runDoc{}, unhealthy, "Bad Gateway"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var doc runDoc
			var text strings.Builder
			err := stream(t.Context(), said(t, c.status, c.body), map[string]string{}, &doc, func(c chunk) error {
				text.WriteString(c.Text)
				return nil
			})
			if err != nil {
				if f := understand("run", err); f.code != c.code || !strings.Contains(f.Err.Error(), c.says) {
					t.Errorf("error is %v with code %d, want %q with %d", err, f.code, c.says, c.code)
				}
			} else if c.code != done {
				t.Errorf("no error, want %q", c.says)
			}
			doc.TTFT, doc.Total = 0, 0
			if doc != c.want || text.String() != c.want.Text {
				t.Errorf("got %+v and said %q, want %+v", doc, text.String(), c.want)
			}
		})
	}
}

// Who is interrupted closes the connection, which ends the turn.
func TestStreamInterrupted(t *testing.T) {
	gone := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var doc runDoc
	err := stream(ctx, served{URL: s.URL}, nil, &doc, func(chunk) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || understand("run", err).code != interrupted || doc.Text != "a" {
		t.Errorf("error is %v, text %q", err, doc.Text)
	}
	<-gone
}

func TestPromptOf(t *testing.T) {
	file := func(text string) *os.File {
		path := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, c := range []struct {
		name string
		args []string
		in   *os.File
		want string
		bad  string
	}{
		{"arguments", []string{"a", "b"}, null, "a b", ""},
		{"a pipe", nil, file(" text\n"), "text", ""},
		{"both", []string{"a"}, file("text\n"), "a\n\ntext", ""},
		{"an empty pipe", []string{"a"}, file(""), "a", ""},
		{"nothing", nil, null, "", "no prompt"},
		{"blanks", []string{" "}, file("\n"), "", "no prompt"},
		{"too much", nil, file(strings.Repeat("x", maxPiped+1)), "", "more than 16 MiB"},
	} {
		got, err := promptOf(t.Context(), c.args, c.in, time.Hour, func() {})
		if got != c.want || (err != nil) != (c.bad != "") || err != nil && !strings.Contains(err.Error(), c.bad) {
			t.Errorf("%s: %q, %v; want %q, %q", c.name, got, err, c.want, c.bad)
		}
	}
}

// A pipe that nobody closes is said to be waited for, and given up on when the
// user says so.
func TestPromptWaits(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := 0
	_, err = promptOf(ctx, []string{"hello"}, r, 0, func() {
		told++
		cancel()
	})
	w.Close() // ends the read that is left
	if told != 1 || understand("run", err).code != interrupted {
		t.Errorf("told %d times, error %v", told, err)
	}
}

func TestHarmless(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n\ttext é 日本": "plain\n\ttext é 日本", "\x1b]0;title\x07": "�]0;title�", "a\rb\u009bc": "a�b�c",
	} {
		if got := harmless(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
