package llamacpp

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// conversation is the one of the recorded renderings with tools.
func conversation() *turn.Turn {
	say := func(r turn.Role, text string) turn.Message {
		return turn.Message{Role: r, Blocks: []turn.Block{{Kind: turn.Text, Text: text}}}
	}
	return &turn.Turn{
		Messages: []turn.Message{say(turn.System, "You are a weather assistant."), say(turn.User, "What is the weather in Paris?")},
		Tools: []turn.Tool{{
			Name: "get_weather", Bare: "get_weather", Description: "Get the weather of a city",
			Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		}},
	}
}

// renders is a server that answers each path as given, and keeps the bodies.
func renders(t *testing.T, answers map[string]string) (*client, map[string]gjson.Result) {
	t.Helper()
	bodies := map[string]gjson.Result{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		bodies[q.URL.Path] = gjson.ParseBytes(b)
		answer, ok := answers[q.URL.Path]
		switch status, text, failed := strings.Cut(answer, "!"); {
		case !ok:
			http.NotFound(w, q)
		case failed:
			w.WriteHeader(engine.Number(status))
			io.WriteString(w, text)
		default:
			io.WriteString(w, answer)
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return knowing(t, s.URL), bodies
}

func TestRecordedRender(t *testing.T) {
	_, rendered, _ := strings.Cut(string(one(t, "apply-template", 1).Response), "\r\n\r\n")
	_, tokens, _ := strings.Cut(string(one(t, "tokenize", 0).Response), "\r\n\r\n")
	c, bodies := renders(t, map[string]string{"/apply-template": rendered, "/tokenize": tokens})
	r, err := c.Render(t.Context(), conversation(), json.RawMessage(`{"enable_thinking":false}`))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.Text, "<|im_start|>system\nYou are a weather") || !slices.Equal(r.IDs, []uint32{19556, 216, 1, 103, 29989, 400, 15107, 235, 229}) {
		t.Errorf("rendered %+v", r)
	}
	asked, want := bodies["/apply-template"], gjson.ParseBytes(one(t, "apply-template", 1).Body)
	for _, path := range []string{"messages.#.role", "messages.#.content", "tools.0.function.name", "tools.0.function.parameters"} {
		if !sameJSON(asked.Get(path).Raw, want.Get(path).Raw) {
			t.Errorf("%s is %s, want %s", path, asked.Get(path), want.Get(path))
		}
	}
	if asked.Get("chat_template_kwargs.enable_thinking").Raw != "false" {
		t.Errorf("asked %s", asked)
	}
	if b := bodies["/tokenize"]; b.Get("content").Str != r.Text || !b.Get("add_special").Bool() || !b.Get("parse_special").Bool() {
		t.Errorf("tokens of %s", b)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

func TestRenderFails(t *testing.T) {
	refused := func(err error) bool {
		var r *turn.Refused
		return errors.As(err, &r)
	}
	for name, c := range map[string]struct {
		answers map[string]string
		is      func(error) bool
	}{
		"no route":       {nil, func(err error) bool { return errors.Is(err, errors.ErrUnsupported) }},
		"not offered":    {map[string]string{"/apply-template": `501!{"error":{"message":"no","type":"not_supported_error"}}`}, func(err error) bool { return errors.Is(err, errors.ErrUnsupported) }},
		"no prompt":      {map[string]string{"/apply-template": "{}"}, func(err error) bool { return errors.Is(err, errors.ErrUnsupported) }},
		"its template":   {map[string]string{"/apply-template": `500!{"error":{"message":"roles must alternate"}}`, "/health": "{}"}, refused},
		"it is broken":   {map[string]string{"/apply-template": `500!{}`, "/health": "500!"}, func(err error) bool { return errors.Is(err, turn.ErrLost) }},
		"its word":       {map[string]string{"/apply-template": `400!{"error":{"message":"no"}}`}, refused},
		"no tokens":      {map[string]string{"/apply-template": `{"prompt":"x"}`}, func(err error) bool { return err == nil }},
		"no such tokens": {map[string]string{"/apply-template": `{"prompt":"x"}`, "/tokenize": `{"tokens":[-1]}`}, func(err error) bool { return errors.Is(err, turn.ErrLost) }},
	} {
		cl, _ := renders(t, c.answers)
		if r, err := cl.Render(t.Context(), conversation(), nil); !c.is(err) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
