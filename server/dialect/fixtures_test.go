package dialect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// recorded is one request of a real client.
type recorded struct {
	file    string
	seq     int
	path    string
	headers map[string]string
	body    []byte
}

func (r recorded) header(name string) string { return r.headers[strings.ToLower(name)] }

// codec returns the codec of the request's route, nil when it has none.
func (r recorded) codec() Codec {
	switch r.path {
	case "/v1/messages":
		return messages{}
	case "/v1/responses":
		return responses{}
	case "/v1/chat/completions":
		return chat{}
	}
	return nil
}

// fixturesDir returns where the fixtures are, if they are there.
func fixturesDir() string {
	if dir := os.Getenv("DYN_FIXTURES"); dir != "" {
		return dir
	}
	root, _ := filepath.Abs(".")
	for root != filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	return filepath.Join(root, "..", "shared", "fixtures")
}

// recordings returns all requests of all recordings, and skips the test
// where there are none.
func recordings(t testing.TB) []recorded {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(fixturesDir(), "recordings", "*.json"))
	if len(files) == 0 {
		t.Skipf("no recordings in %s: set DYN_FIXTURES to the fixtures' folder", fixturesDir())
	}
	var all []recorded
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Requests []struct {
				Seq     int
				Path    string
				Headers [][2]string
				Body    map[string]any
			}
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		tools := map[int]any{}
		for _, q := range doc.Requests {
			if q.Body == nil {
				continue
			}
			r := recorded{file: filepath.Base(f), seq: q.Seq, path: q.Path, headers: map[string]string{}}
			for _, h := range q.Headers {
				r.headers[strings.ToLower(h[0])] = h[1]
			}
			if ref, ok := q.Body["tools"].(map[string]any); ok {
				q.Body["tools"] = tools[int(ref["$same_as_seq"].(float64))]
			}
			tools[q.Seq] = q.Body["tools"]
			if r.body, err = json.Marshal(expand(q.Body)); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
	}
	return all
}

// expand puts texts of the right length where a recording cut them.
func expand(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if head, ok := v["$head"].(string); ok {
			n := int(v["$len"].(float64)) - len(head)
			return head + strings.Repeat("some \"text\" of the prompt\n", max(n, 0)/26)
		}
		out := map[string]any{}
		for k, e := range v {
			out[k] = expand(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = expand(e)
		}
		return out
	}
	return v
}

// TestRecordings decodes every request that real clients were recorded to
// send.
func TestRecordings(t *testing.T) {
	n := 0
	for _, r := range recordings(t) {
		c := r.codec()
		if c == nil {
			if _, err := DecodeCount(r.body, r.header); err != nil {
				t.Errorf("%s #%d: %v", r.file, r.seq, err)
			}
			continue
		}
		n++
		got, err := c.Decode(r.body, r.header, nil)
		if err != nil {
			t.Errorf("%s #%d: %v", r.file, r.seq, err)
			continue
		}
		check(t, r, got)
	}
	if n < 100 {
		t.Errorf("only %d requests in the recordings", n)
	}
}

// check looks for what every decoded turn must hold to.
func check(t *testing.T, r recorded, got *turn.Turn) {
	t.Helper()
	if got.Model == "" || len(got.Messages) == 0 {
		t.Errorf("%s #%d: model %q, %d messages", r.file, r.seq, got.Model, len(got.Messages))
	}
	names := map[string]bool{}
	for _, tool := range got.Tools {
		if names[tool.Name] || tool.Name == placeholderTool {
			t.Errorf("%s #%d: tool %q", r.file, r.seq, tool.Name)
		}
		names[tool.Name] = true
	}
	calls := map[string]bool{}
	for i, m := range got.Messages {
		if i > 0 && m.Role == turn.Assistant && got.Messages[i-1].Role == turn.Assistant && got.Dialect != turn.Chat {
			t.Errorf("%s #%d: two assistant messages in a row", r.file, r.seq)
		}
		for _, b := range m.Blocks {
			switch b.Kind {
			case turn.ToolUse:
				calls[b.ID] = true
				if !json.Valid(b.Args) {
					t.Errorf("%s #%d: arguments %q", r.file, r.seq, b.Args)
				}
			case turn.ToolResult:
				if m.Role != turn.ToolRole || !calls[b.ID] {
					t.Errorf("%s #%d: result of %q in a message of %s", r.file, r.seq, b.ID, m.Role)
				}
			case turn.Other:
				t.Errorf("%s #%d: unknown content %s", r.file, r.seq, b.Raw)
			}
		}
	}
}
