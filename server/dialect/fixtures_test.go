package dialect

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// codecOf returns the codec of a recorded request's route, nil when it has
// none.
func codecOf(r *recorded) Codec {
	return For(map[string]turn.Dialect{
		"/v1/messages": turn.Messages, "/v1/responses": turn.Responses, "/v1/chat/completions": turn.Chat,
	}[r.path])
}

// recordings returns all requests of all recordings, and skips the test
// where there are none.
func recordings(t testing.TB) []recorded {
	t.Helper()
	all, err := loadRecordings(fixturesDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Skipf("no recordings in %s: set DYN_FIXTURES to the fixtures' folder", fixturesDir())
	}
	return all
}

// TestRecordings decodes every request that real clients were recorded to
// send.
func TestRecordings(t *testing.T) {
	for _, r := range recordings(t) {
		c := codecOf(&r)
		if c == nil {
			if _, err := DecodeCount(r.full, r.header); err != nil {
				t.Errorf("%s #%d: %v", r.file, r.seq, err)
			}
			continue
		}
		got, err := c.Decode(r.full, r.header, nil)
		if err != nil {
			t.Errorf("%s #%d: %v", r.file, r.seq, err)
			continue
		}
		check(t, &r, got)
	}
}

// check looks for what every decoded turn must hold to.
func check(t *testing.T, r *recorded, got *turn.Turn) {
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

// TestMutatedRecordings changes recorded bodies at random: each gives a sound
// turn or a problem of the request's that can be told, with and without a
// Recall the same.
func TestMutatedRecordings(t *testing.T) {
	requests := recordings(t)
	m := newMutator(1, requests)
	rc := NewRecall(16 << 20)
	for n := range 800 {
		i, body := m.next()
		c := codecOf(&requests[i])
		if c == nil {
			continue
		}
		got, err := c.Decode(body, requests[i].header, rc)
		if err == nil {
			sound(t, got)
		} else {
			told(t, c, err)
		}
		want, wantErr := c.Decode(body, requests[i].header, nil)
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) {
			t.Fatalf("change %d, with a Recall: %v, without: %v\n%s", n, err, wantErr, body)
		}
		if t.Failed() {
			t.Fatalf("change %d of %s #%d: %s", n, requests[i].file, requests[i].seq, body)
		}
	}
}

// told checks that an error of decoding is the request's and can be told.
func told(t *testing.T, c Codec, err error) {
	t.Helper()
	var p *Problem
	if !errors.As(err, &p) || p.StatusFor(c.Dialect()) != 400 {
		t.Fatalf("%s: %v", c.Dialect(), err)
	}
	if out := c.Problem(p, "r"); !json.Valid(out) {
		t.Fatalf("%s: problem %s", c.Dialect(), out)
	}
}
