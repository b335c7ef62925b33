package vllm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// recordedExchange is one recorded request and its answer, byte for byte.
type recordedExchange struct {
	Name     string
	Status   int
	Request  string
	Response string
}

// fixtures is the folder of recordings; the test is skipped without it.
func fixtures(t testing.TB) string {
	t.Helper()
	root := os.Getenv("DYN_FIXTURES")
	for dir, _ := os.Getwd(); root == "" && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			root = filepath.Join(dir, "..", "shared", "fixtures")
		}
	}
	dir := filepath.Join(root, "engines", "vllm")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings: set DYN_FIXTURES (%v)", err)
	}
	return dir
}

func recorded(t testing.TB) map[string]recordedExchange {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures(t), "http.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]recordedExchange{}
	for line := range bytes.Lines(data) {
		var e recordedExchange
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all[e.Name] = e
	}
	return all
}

// replay serves the bytes once per connection, in writes of a given size, and
// then closes the connection.
func replay(t *testing.T, response string, size int) *client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				q, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, q.Body)
				for part := range slices.Chunk([]byte(response), size) {
					if _, err := c.Write(part); err != nil {
						return
					}
				}
			}()
		}
	}()
	c := newClient(engine.Endpoint{URL: "http://" + l.Addr().String()})
	name := "tiny"
	c.model.Store(&name)
	t.Cleanup(c.Close)
	return c
}

// answer is a stream read to its end.
type answer struct {
	text string
	ids  []uint32
	end  *turn.End
	err  error
}

func readAll(s turn.Stream, err error) answer {
	var a answer
	if err != nil {
		a.err = err
		return a
	}
	defer s.Close()
	for {
		d, err := s.Next()
		if err != nil {
			a.err = err
			return a
		}
		a.text += d.Text
		a.ids = append(a.ids, d.IDs...)
		if d.End != nil {
			a.end = d.End
			return a
		}
	}
}

// told is what a recording says, read by the standard library.
type told struct {
	text   string
	ids    []uint32
	finish string
	stop   any
	usage  *struct {
		Prompt  int `json:"prompt_tokens"`
		Output  int `json:"completion_tokens"`
		Details *struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

func decode(t *testing.T, response string) told {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(response)), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all told
	document := strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if document {
			data, ok = lines.Text(), true
		}
		if !ok || data == "[DONE]" {
			continue
		}
		var c struct {
			Choices []struct {
				Index  int
				Text   string
				IDs    []uint32 `json:"token_ids"`
				Finish *string  `json:"finish_reason"`
				Stop   any      `json:"stop_reason"`
			}
			Usage json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		for _, ch := range c.Choices {
			if ch.Index > 0 {
				continue // we ask for one
			}
			all.text += ch.Text
			all.ids = append(all.ids, ch.IDs...)
			if ch.Finish != nil {
				all.finish, all.stop = *ch.Finish, ch.Stop
			}
		}
		if len(c.Usage) > 0 && string(c.Usage) != "null" {
			if err := json.Unmarshal(c.Usage, &all.usage); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// Every recorded answer, whole or cut, stream or document, read in pieces of
// any size: the text and the ids that came, and how it ended.
func TestRecordedAnswers(t *testing.T) {
	n := 0
	for name, e := range recorded(t) {
		if !strings.Contains(e.Request, "POST /v1/completions ") || e.Status >= 400 {
			continue
		}
		n++
		t.Run(name, func(t *testing.T) {
			want := told{}
			if e.Response != "" {
				want = decode(t, e.Response)
			}
			for _, size := range []int{1 << 20, 1000, 7} {
				c := replay(t, e.Response, size)
				got := readAll(c.Generate(t.Context(), turn.Job{ID: "t1", Prompt: turn.IDsOf(1, 2), MaxTokens: 9999}))
				compare(t, want, got)
			}
		})
	}
	if n < 40 {
		t.Errorf("only %d answers were found", n)
	}
}

// Every recorded error is somebody's fault: the request's or the worker's.
func TestRecordedFaults(t *testing.T) {
	n := 0
	for name, e := range recorded(t) {
		if !strings.Contains(e.Request, "POST /v1/completions ") || e.Status < 400 {
			continue
		}
		n++
		got := readAll(replay(t, e.Response, 100).Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1}))
		var refused *turn.Refused
		switch {
		case errors.As(got.err, &refused) == errors.Is(got.err, turn.ErrLost):
			t.Errorf("%s: %v is nobody's fault, or everybody's", name, got.err)
		case (refused != nil) != (e.Status == 400):
			t.Errorf("%s: status %d became %v", name, e.Status, got.err)
		case refused != nil && (refused.Message == "" || strings.ContainsAny(refused.Message, "\n{")):
			t.Errorf("%s: %q is not for people", name, refused.Message)
		}
	}
	if n < 20 {
		t.Errorf("only %d errors were found", n)
	}
}

func compare(t *testing.T, want told, got answer) {
	t.Helper()
	if got.text != want.text || !slices.Equal(got.ids, want.ids) {
		t.Fatalf("got %q %v, want %q %v", got.text, got.ids, want.text, want.ids)
	}
	if want.finish == "abort" || want.finish == "" {
		if !errors.Is(got.err, turn.ErrLost) || got.end != nil {
			t.Fatalf("got end %+v, error %v; want a lost worker", got.end, got.err)
		}
		return
	}
	if got.err != nil {
		t.Fatal(got.err)
	}
	reason := map[string]turn.Reason{"length": turn.Cut, "stop": turn.Ended}[want.finish]
	text, byText := want.stop.(string)
	if byText {
		reason = turn.Stopped
	}
	if got.end.Reason != reason || got.end.StopText != text {
		t.Errorf("ended by %s %q, want %s %q", got.end.Reason, got.end.StopText, reason, text)
	}
	if stopID := want.finish == "stop" && !byText && len(want.ids) > 0; got.end.StopID != stopID {
		t.Errorf("StopID is %v", got.end.StopID)
	}
	if u := want.usage; u != nil {
		cached := 0
		if u.Details != nil {
			cached = u.Details.Cached
		}
		if g := got.end.Usage; g.Prompt != u.Prompt || g.Output != u.Output || g.Cached != cached {
			t.Errorf("usage is %+v, want %+v", g, u)
		}
	} else if len(want.ids) > 0 && got.end.Usage.Output != len(want.ids) {
		t.Errorf("output is %d of %d ids", got.end.Usage.Output, len(want.ids))
	}
}

func TestRecordedErrors(t *testing.T) {
	all := recorded(t)
	for _, c := range []struct {
		name    string
		status  int // of a refusal; 0 is a lost worker
		busy    bool
		message string
	}{
		{"completion-prompt-too-long", 400, false, "maximum context length is 4096"},
		{"completion-prompt-exactly-max", 400, false, "max_tokens must be at least 1"},
		{"completion-bad-id-high", 400, false, "out of vocabulary"},
		{"completion-bad-model", 0, false, "does not exist"},
		{"completion-wrong-type", 400, false, "max_tokens: Input should be a valid integer, unable to parse string as an integer"},
		{"completion-bad-id-negative", 400, false, "prompt.2: Input should be greater than or equal to 0"},
		{"completion-bad-content-type", 400, false, "Unsupported Media Type: Only 'application/json' is allowed"},
		{"admission-rejected", 0, true, "currently busy"},
		{"auth-wrong", 0, false, "Unauthorized"},
		{"enginedeath-nonstream", 0, false, "EngineCore"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, ok := all[c.name]
			if !ok {
				t.Fatal("no such recording")
			}
			got := readAll(replay(t, e.Response, 1<<20).Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1}))
			var refused *turn.Refused
			if errors.As(got.err, &refused) != (c.status != 0) || (refused != nil && refused.Status != c.status) {
				t.Errorf("error is %v", got.err)
			}
			if errors.Is(got.err, turn.ErrLost) != (c.status == 0) || errors.Is(got.err, turn.ErrBusy) != c.busy {
				t.Errorf("error is %v", got.err)
			}
			if got.err == nil || !strings.Contains(got.err.Error(), c.message) {
				t.Errorf("error %v lacks %q", got.err, c.message)
			}
		})
	}
}

// A cut anywhere before the end loses the worker, and what came stays.
func TestCutStreams(t *testing.T) {
	e := recorded(t)["completion-ids-stream"]
	want := decode(t, e.Response)
	end := strings.Index(e.Response, `"finish_reason":"length"`)
	for at := strings.Index(e.Response, "\r\n\r\n") + 4; at < end; at += 61 {
		got := readAll(replay(t, e.Response[:at], 1<<20).Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 9}))
		if !errors.Is(got.err, turn.ErrLost) {
			t.Fatalf("cut at %d: error %v", at, got.err)
		}
		if !strings.HasPrefix(want.text, got.text) || len(got.ids) > len(want.ids) {
			t.Fatalf("cut at %d: got %q", at, got.text)
		}
	}
}

func TestEngineDeathInStream(t *testing.T) {
	got := readAll(replay(t, recorded(t)["enginedeath-stream"].Response, 1<<20).
		Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 2000}))
	if !errors.Is(got.err, turn.ErrLost) || !strings.Contains(got.err.Error(), "EngineCore") {
		t.Errorf("error is %v", got.err)
	}
	if !strings.Contains(got.text, "🏔") {
		t.Errorf("what came before is lost: %q", got.text)
	}
}

func recordedPage(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures(t), "metrics.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
