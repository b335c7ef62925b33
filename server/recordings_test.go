package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// replayed is one request as a real client sent it.
type replayed struct {
	name, method, path string
	header             [][2]string
	body               []byte
}

// find is the value of a header, "" where there is none.
func (q replayed) find(name string) string {
	for _, h := range q.header {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}

// replays returns all requests of all recordings, and skips the test where
// there are none. With short, long texts are left as short as the recordings
// have them, else they are as long as they were.
func replays(t testing.TB, short bool) (all []replayed) {
	t.Helper()
	dir := os.Getenv("DYN_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "fixtures")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "recordings", "*.json"))
	if len(files) == 0 {
		t.Skipf("no recordings in %s: set DYN_FIXTURES", dir)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		more, err := replaysOf(filepath.Base(file), data, short)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, more...)
	}
	return all
}

// replaysOf reads one recording.
func replaysOf(file string, data []byte, short bool) (all []replayed, err error) {
	var doc struct {
		Requests []struct {
			Seq                 int
			Method, Path, Query string
			Headers             [][2]string
			Body                map[string]any
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	tools := map[int]any{}
	for _, q := range doc.Requests {
		r := replayed{name: fmt.Sprintf("%s#%d", file, q.Seq), method: q.Method, path: q.Path, header: q.Headers}
		if q.Query != "" {
			r.path += "?" + q.Query
		}
		if q.Body != nil {
			if ref, ok := q.Body["tools"].(map[string]any); ok {
				seq, _ := ref["$same_as_seq"].(float64)
				q.Body["tools"] = tools[int(seq)]
			}
			tools[q.Seq] = q.Body["tools"]
			q.Body["model"] = "sim"
			if r.body, err = json.Marshal(filled(q.Body, short)); err != nil {
				return nil, err
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// filled puts texts in place of what a recording has cut.
func filled(v any, short bool) any {
	switch v := v.(type) {
	case map[string]any:
		if head, ok := v["$head"].(string); ok {
			length, _ := v["$len"].(float64)
			if short {
				return head
			}
			return head + strings.Repeat("some \"text\" of it\n", max(int(length)-len(head), 0)/18)
		}
		for k, e := range v {
			v[k] = filled(e, short)
		}
	case []any:
		for i, e := range v {
			v[i] = filled(e, short)
		}
	}
	return v
}

// answered is what came back for a request.
type answered struct {
	status int
	kind   string // content type
	body   []byte
}

// replay sends a request as it was recorded, without the headers that belong
// to its connection.
func (r *rig) replay(q replayed) (answered, error) {
	req, err := http.NewRequestWithContext(r.t.Context(), q.method, r.url+q.path, bytes.NewReader(q.body))
	if err != nil {
		return answered{}, err
	}
	for _, h := range q.header {
		switch strings.ToLower(h[0]) {
		case "connection", "content-length", "accept-encoding", "host", "authorization", "x-api-key", "transfer-encoding":
		default:
			req.Header.Set(h[0], h[1])
		}
	}
	client := http.Client{Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		return answered{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return answered{}, fmt.Errorf("answer cut after %d bytes: %w", len(body), err)
	}
	return answered{resp.StatusCode, resp.Header.Get("Content-Type"), body}, nil
}

// TestReplay: every request that clients were recorded to send gets the
// status, type and ending that they need, and no panic.
func TestReplay(t *testing.T) {
	r := newRig(t, 1, "--max-model-len=262144")
	n := 0
	for _, q := range replays(t, false) {
		a, err := r.replay(q)
		if err != nil {
			t.Errorf("%s: %v", q.name, err)
			continue
		}
		if a.status >= 300 {
			t.Errorf("%s: %s %s: %d %.300s", q.name, q.method, q.path, a.status, a.body)
			continue
		}
		if len(q.body) > 0 {
			n++
			if fault := a.fault(q); fault != "" {
				t.Errorf("%s: %s: %s", q.name, q.path, fault)
			}
		}
	}
	if n == 0 {
		t.Error("no request has a body")
	}
	if p := r.s.count.panics.Load(); p > 0 {
		t.Errorf("%d panics", p)
	}
}

// fault says what an answer lacks that the client of its request needs, ""
// if nothing.
func (a answered) fault(q replayed) string {
	path, _, _ := strings.Cut(q.path, "?")
	api := shapes[path]
	switch {
	case a.status >= 500:
		return fmt.Sprintf("status %d: %.300s", a.status, a.body)
	case a.status >= 300 || a.status < 200:
		if strings.HasPrefix(a.kind, "application/json") && refusal(path, a.body) {
			return ""
		}
		return fmt.Sprintf("status %d in a form of its own: %s %.300s", a.status, a.kind, a.body)
	case strings.HasPrefix(a.kind, "text/event-stream"):
		return api.streamFault(a.body)
	case !strings.HasPrefix(a.kind, "application/json"):
		return "type " + a.kind
	}
	var doc map[string]any
	if err := json.Unmarshal(a.body, &doc); err != nil {
		return fmt.Sprintf("%v in %.300s", err, a.body)
	}
	for _, key := range api.keys {
		if doc[key] == nil {
			return fmt.Sprintf("no %s in %.300s", key, a.body)
		}
	}
	return ""
}

// shape is what the answers of an endpoint have.
type shape struct {
	keys []string // of a document
	ends []string // one of these ends a stream
}

var shapes = map[string]shape{
	"/v1/messages":               {[]string{"id", "type", "role", "content", "stop_reason", "usage"}, []string{"event: message_stop", "event: error"}},
	"/v1/messages/count_tokens":  {[]string{"input_tokens"}, nil},
	"/v1/responses":              {[]string{"id", "object", "status", "output", "usage"}, []string{"event: response.completed", "event: response.incomplete", "event: response.failed", "event: error"}},
	"/v1/chat/completions":       {[]string{"id", "object", "choices", "usage"}, []string{"data: [DONE]"}},
	"/v1/completions":            {[]string{"id", "object", "choices", "usage"}, []string{"data: [DONE]"}},
	"/v1/responses/input_tokens": {[]string{"object", "input_tokens"}, nil},
	"/tokenize":                  {[]string{"count", "tokens"}, nil},
	"/detokenize":                {[]string{"prompt"}, nil},
}

// streamFault says what a stream lacks: each event is JSON, and the last one
// is one that ends it.
func (s shape) streamFault(body []byte) string {
	last := ""
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		if data, ok := strings.CutPrefix(line, "data: "); ok && data != "[DONE]" && !json.Valid([]byte(data)) {
			return fmt.Sprintf("event %.300s", line)
		}
		for _, end := range s.ends {
			if line == end {
				last = line
			}
		}
	}
	if last == "" {
		return fmt.Sprintf("no end: … %s", body[max(0, len(body)-300):])
	}
	return ""
}

// refusal says whether body is an error in the form of the path's dialect.
func refusal(path string, body []byte) bool {
	var e struct {
		Type  string
		Error struct {
			Type, Message string
		}
	}
	if json.Unmarshal(body, &e) != nil || e.Error.Message == "" || e.Error.Type == "" {
		return false
	}
	return !strings.HasPrefix(path, "/v1/messages") || e.Type == "error"
}

// dialectOf is the dialect of a path, "" for one that is none.
func dialectOf(path string) turn.Dialect {
	path, _, _ = strings.Cut(path, "?")
	switch path {
	case "/v1/messages":
		return turn.Messages
	case "/v1/responses":
		return turn.Responses
	case "/v1/chat/completions":
		return turn.Chat
	case "/v1/completions":
		return turn.Completions
	}
	return ""
}
