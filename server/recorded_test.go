package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/server/dialect/recorded"
	"github.com/agentinfer/dyn/turn"
)

// recordedStage serves every model that a recording names, and returns the
// recorded requests.
func recordedStage(t *testing.T) (*scripted, []recorded.Request) {
	t.Helper()
	requests, err := recorded.Load(recorded.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if len(requests) == 0 {
		t.Skipf("no recordings in %s: set DYN_FIXTURES to the fixtures' folder", recorded.Dir())
	}
	b := newScripted(t, "")
	b.play = func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		text := "fine"
		if j.Format.Kind != turn.FreeText {
			text = `{"title":"fine"}`
		}
		return b.saying("<think>hm</think>", text, "\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {}}\n</tool_call>")(ctx, j)
	}
	known := map[string]bool{"sim": true}
	for i := range requests {
		var body struct{ Model string }
		if err := json.Unmarshal(requests[i].Body, &body); err != nil {
			t.Fatal(err)
		}
		if known[body.Model] {
			continue
		}
		known[body.Model] = true
		b.s.AddModel(Model{ID: body.Model, Prompt: b.m, Tools: "hermes", Reasoning: "think"})
		c := caps(400_000)
		c.Model, c.KVTokens, c.Formats = body.Model, 0, true
		if err := b.s.Update(&puppet{name: "w-" + body.Model, caps: c, play: b.answer}); err != nil {
			t.Fatal(err)
		}
	}
	return b, requests
}

// headersOf are the headers of a recorded request that do not belong to its
// connection.
func headersOf(r *recorded.Request) (headers []string) {
	for name, value := range r.Headers {
		switch name {
		case "host", "connection", "content-length", "accept-encoding", "transfer-encoding":
		default:
			headers = append(headers, name, value)
		}
	}
	return headers
}

// TestRecordedRequests replays all that real clients were recorded to send:
// each gets an answer of the status and shape that it needs.
func TestRecordedRequests(t *testing.T) {
	b, requests := recordedStage(t)
	for i := range requests {
		r := &requests[i]
		status, answer := b.post(t.Context(), r.Path, string(r.Full), headersOf(r)...)
		if status != 200 {
			t.Errorf("%s #%d: %d %.300s", r.File, r.Seq, status, answer)
			continue
		}
		wellFormed(t, r, r.Full, answer)
	}
}

// wellFormed checks an answer of status 200: a stream has its last event and
// no error, a document is one.
func wellFormed(t *testing.T, r *recorded.Request, body []byte, answer string) {
	t.Helper()
	if !strings.HasPrefix(answer, "data: ") && !strings.HasPrefix(answer, "event: ") {
		var doc map[string]any
		if err := json.Unmarshal([]byte(answer), &doc); err != nil || doc["error"] != nil {
			t.Errorf("%s #%d: %v in %.300s", r.File, r.Seq, err, answer)
		}
		return
	}
	last := map[string]string{
		"/v1/messages": `"type":"message_stop"`, "/v1/responses": `"type":"response.completed"`, "/v1/chat/completions": "data: [DONE]",
	}[r.Path]
	if strings.Count(answer, last) != 1 || strings.Contains(answer, "event: error") {
		t.Errorf("%s #%d: %d of %s in %.2000s", r.File, r.Seq, strings.Count(answer, last), last, answer)
	}
	for line := range strings.Lines(answer) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Errorf("%s #%d: %s", r.File, r.Seq, data)
		}
	}
}

// undescribed posts a body past the witness of the description: what nobody
// reads may be anything.
func (b *scripted) undescribed(r *recorded.Request, body []byte) (int, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), "POST", b.url+r.Path, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	headers := headersOf(r)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Client{Transport: http.DefaultTransport}).Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// TestMutatedRequests changes recorded requests at random: no answer is a
// fault of the server, and each has its form.
func TestMutatedRequests(t *testing.T) {
	b, requests := recordedStage(t)
	n := 500
	if s := os.Getenv("DYN_MUTATIONS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	m := recorded.NewMutator(3, requests)
	for k := range n {
		i, body := m.Next()
		r := &requests[i]
		status, answer := b.undescribed(r, body)
		switch {
		case status == 200:
			if !strings.Contains(answer, "response.incomplete") { // a limit may have become small
				wellFormed(t, r, body, answer)
			}
		case status < 400 || status >= 500, !json.Valid([]byte(answer)):
			t.Errorf("change %d of %s #%d: %d %.300s", k, r.File, r.Seq, status, answer)
		}
		if t.Failed() {
			t.Fatalf("body: %s", body)
		}
	}
}
