package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

func TestProblems(t *testing.T) {
	long := &Problem{Kind: TooLong, Prompt: 300, Limit: 200}
	for _, c := range []struct {
		p      *Problem
		d      turn.Dialect
		status int
		want   string
	}{
		{long, turn.Messages, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 300 tokens > 200 maximum"},"request_id":"req"}`},
		{long, turn.Chat, 400, `{"error":{"message":"This model's maximum context length is 200 tokens. However, your messages resulted in 300 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		{long, turn.Responses, 400, `{"error":{"message":"This model's maximum context length is 200 tokens. However, your input resulted in 300 tokens. Please reduce the length of the input.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`},
		{&Problem{Kind: NotFound, Param: "model", Message: `no "x" here`}, turn.Chat, 404, `{"error":{"message":"model: no \"x\" here","type":"invalid_request_error","param":"model","code":"model_not_found"}}`},
		{&Problem{Kind: NotFound, Message: "no route"}, turn.Messages, 404, `{"type":"error","error":{"type":"not_found_error","message":"no route"},"request_id":"req"}`},
		{&Problem{Kind: Busy, Message: "busy"}, turn.Messages, 529, `{"type":"error","error":{"type":"overloaded_error","message":"busy"},"request_id":"req"}`},
		{&Problem{Kind: Busy, Message: "busy"}, turn.Responses, 503, `{"error":{"message":"busy","type":"server_error","param":null,"code":"server_overloaded"}}`},
		{&Problem{Kind: Limited, Message: "slow"}, turn.Messages, 429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow"},"request_id":"req"}`},
		{&Problem{Kind: Limited, Message: "slow"}, turn.Responses, 429, `{"error":{"message":"slow","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`},
		{&Problem{Kind: Forbidden, Message: "no"}, turn.Messages, 403, `{"type":"error","error":{"type":"permission_error","message":"no"},"request_id":"req"}`},
		{&Problem{Kind: Forbidden, Message: "no"}, turn.Chat, 403, `{"error":{"message":"no","type":"invalid_request_error","param":null,"code":"permission_denied"}}`},
		{&Problem{Kind: TimedOut, Message: "late"}, turn.Messages, 504, `{"type":"error","error":{"type":"timeout_error","message":"late"},"request_id":"req"}`},
		{&Problem{Kind: Unavailable, Message: "no workers"}, turn.Messages, 503, `{"type":"error","error":{"type":"overloaded_error","message":"no workers"},"request_id":"req"}`},
		{&Problem{Kind: TooLarge, Message: "big"}, turn.Messages, 413, `{"type":"error","error":{"type":"request_too_large","message":"big"},"request_id":"req"}`},
		{&Problem{Kind: Unauthorized, Message: "key"}, turn.Chat, 401, `{"error":{"message":"key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`},
		{&Problem{Kind: Method, Message: "GET"}, turn.Chat, 405, `{"error":{"message":"GET","type":"invalid_request_error","param":null,"code":"method_not_allowed"}}`},
		{&Problem{Kind: Internal, Message: "oh"}, turn.Chat, 500, `{"error":{"message":"oh","type":"server_error","param":null,"code":"internal_error"}}`},
		{&Problem{Message: "must be", Param: "tools[0]"}, turn.Chat, 400, `{"error":{"message":"tools[0]: must be","type":"invalid_request_error","param":"tools[0]","code":null}}`},
	} {
		if got := string(For(c.d).Problem(c.p, "req")); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.d, got, c.want)
		}
		if c.p.StatusFor(c.d) != c.status {
			t.Errorf("%v: status %d, want %d", c.p, c.p.StatusFor(c.d), c.status)
		}
	}
}

func TestExplain(t *testing.T) {
	own := &Problem{Kind: TooLarge}
	for _, c := range []struct {
		err  error
		want Kind
	}{
		{fmt.Errorf("decode: %w", own), TooLarge},
		{fmt.Errorf("generate: %w", &turn.Refused{Status: 422, Message: "m"}), Invalid},
		{fmt.Errorf("%w: %w", turn.ErrLost, turn.ErrBusy), Busy},
		{fmt.Errorf("w1: %w", turn.ErrLost), Unavailable},
		{errors.New("secret path"), Internal},
		{nil, Internal},
	} {
		p := Explain(c.err)
		if p.Kind != c.want {
			t.Errorf("%v: kind %d, want %d", c.err, p.Kind, c.want)
		}
		if p.Kind == Internal && p.Message != "internal error" {
			t.Errorf("tells %q", p.Message)
		}
	}
}

// TestUsageSplit checks the shares of a prompt that messages reports.
func TestUsageSplit(t *testing.T) {
	u := turn.Usage{Prompt: 100, Cached: 40}
	lease := func(d time.Duration) []turn.Message {
		return []turn.Message{{Role: turn.User, Blocks: []turn.Block{{Lease: d}, {}}}}
	}
	for _, c := range []struct {
		name             string
		turn             turn.Turn
		mark             int // -1 never told
		read, made, rest int
		want             string // part of the document
	}{
		{"nothing asked", turn.Turn{}, -1, 40, 0, 60, `"ephemeral_5m_input_tokens":0`},
		{"asked at the end", turn.Turn{Messages: lease(5 * time.Minute)}, -1, 40, 60, 0, `"ephemeral_5m_input_tokens":60`},
		{"for an hour", turn.Turn{Messages: lease(time.Hour)}, -1, 40, 60, 0, `"ephemeral_1h_input_tokens":60`},
		{"asked before the end", turn.Turn{Messages: append(lease(1), turn.Message{})}, -1, 40, 0, 60, ``},
		{"told where", turn.Turn{Messages: append(lease(1), turn.Message{})}, 70, 40, 30, 30, ``},
		{"told inside the cache", turn.Turn{}, 30, 40, 0, 60, ``},
		{"told too much", turn.Turn{}, 500, 40, 60, 0, ``},
		{"the whole prompt", turn.Turn{Hints: turn.Hints{Lease: time.Minute}}, -1, 40, 60, 0, ``},
	} {
		m := newMarked(&c.turn)
		m.mark = c.mark
		if read, made, rest := m.split(u); read != c.read || made != c.made || rest != c.rest {
			t.Errorf("%s: got %d %d %d, want %d %d %d", c.name, read, made, rest, c.read, c.made, c.rest)
		}
	}
}

// uncatalogued takes Codex's catalog off a list of models and checks it: a key
// that is missing makes Codex drop the list.
func uncatalogued(t *testing.T, list []byte) []byte {
	t.Helper()
	var doc struct{ Models []map[string]any }
	if err := json.Unmarshal(list, &doc); err != nil || len(doc.Models) == 0 {
		t.Fatalf("%v in %s", err, list)
	}
	for _, m := range doc.Models {
		for _, key := range []string{
			"slug", "display_name", "shell_type", "visibility", "supported_in_api", "priority", "truncation_policy",
			"base_instructions", "support_verbosity", "supported_reasoning_levels", "experimental_supported_tools",
		} {
			if _, ok := m[key]; !ok {
				t.Errorf("%v has no %s", m["slug"], key)
			}
		}
	}
	data, _, _ := bytes.Cut(list, []byte(`,"models":`))
	return append(bytes.Clone(data), '}')
}

func TestModels(t *testing.T) {
	ms := []ModelInfo{{ID: "sim", Context: 4096, Created: time.Unix(1760000000, 0)}, {ID: "b", Name: "The B"}}
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{uncatalogued(t, ModelsOpenAI(ms)), `{"object":"list","data":[{"id":"sim","object":"model","created":1760000000,"owned_by":"dyn","max_model_len":4096,"context_length":4096},{"id":"b","object":"model","created":0,"owned_by":"dyn"}]}`},
		{ModelsOpenAI(nil), `{"object":"list","data":[],"models":[]}`},
		{ModelsAnthropic(ms), `{"data":[{"type":"model","id":"sim","display_name":"sim","created_at":"2025-10-09T08:53:20Z","max_input_tokens":4096},{"type":"model","id":"b","display_name":"The B","created_at":"1970-01-01T00:00:00Z"}],"has_more":false,"first_id":"sim","last_id":"b"}`},
		{ModelsAnthropic(nil), `{"data":[],"has_more":false,"first_id":null,"last_id":null}`},
		{ModelAnthropic(ms[1]), `{"type":"model","id":"b","display_name":"The B","created_at":"1970-01-01T00:00:00Z"}`},
	} {
		if string(c.got) != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

// TestAllocations holds the encoders to no garbage for a token.
func TestAllocations(t *testing.T) {
	for d := range clients {
		enc := For(d).Stream(&turn.Turn{ID: "t", Model: "m"})
		buf := enc.Open(make([]byte, 0, 4096), turn.Usage{})
		for range 200 { // let the answer's own buffers grow
			buf = enc.Event(buf[:0], says(" a \"token\"\n"))
		}
		for _, e := range []turn.Event{says(" a \"token\"\n"), {Kind: turn.CallArgs, Text: `{"a`}} {
			if n := testing.AllocsPerRun(100, func() { buf = enc.Event(buf[:0], e) }); n > 0 {
				t.Errorf("%s: %v allocations per event", d, n)
			}
			buf = enc.Event(buf[:0], turn.Event{Kind: turn.CallStart, Call: turn.Call{ID: "c", Name: "n"}})
		}
		if n := testing.AllocsPerRun(100, func() { buf = enc.Ping(buf[:0]) }); n > 0 {
			t.Errorf("%s: %v allocations per ping", d, n)
		}
	}
}

func TestIDs(t *testing.T) {
	if a, b := NewID("x_"), NewID("x_"); a == b || len(a) != 26 {
		t.Errorf("got %s and %s", a, b)
	}
	if got := NewCallID(turn.Messages)[:6]; got != "toolu_" {
		t.Errorf("got %s", got)
	}
	if got := NewCallID(turn.Chat)[:5]; got != "call_" {
		t.Errorf("got %s", got)
	}
	if For("novel") != nil {
		t.Error("a codec for no dialect")
	}
}
