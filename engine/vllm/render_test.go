package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/turn"
)

var _ engine.Renderer = (*client)(nil)

// renderer is a client of a server that answers by path; other paths are not
// there.
func renderer(t *testing.T, answers map[string][]byte, asked func(path string, body []byte)) *client {
	t.Helper()
	c := newClient(engine.Endpoint{URL: fake.Replay(t, 100, func(q *http.Request, body []byte) []byte {
		asked(q.URL.Path, body)
		if a, ok := answers[q.URL.Path]; ok {
			return a
		}
		return says(http.StatusNotFound, `{"detail":"Not Found"}`)
	})})
	name := "tiny"
	c.model.Store(&name)
	t.Cleanup(c.Close)
	return c
}

// says is an answer as it goes over the wire.
func says(status int, body string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, http.StatusText(status), len(body), body)
}

// terse is the turn of the recordings.
func terse() *turn.Turn {
	text := func(r turn.Role, s string) turn.Message {
		return turn.Message{Role: r, Blocks: []turn.Block{{Kind: turn.Text, Text: s}}}
	}
	return &turn.Turn{Messages: []turn.Message{text(turn.System, "You are terse."), text(turn.User, "Say hi.")}}
}

// TestRenderRecorded asks for the conversations of the recordings, and checks
// that the same is asked, and what is read of the answer.
func TestRenderRecorded(t *testing.T) {
	all := fake.VLLM(t, fixtures(t))
	plain, called := terse(), terse()
	called.Tools = []turn.Tool{{Name: "get_weather", Description: "w", Schema: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}}
	for _, c := range []struct {
		recording string
		turn      *turn.Turn
		switches  string
	}{
		{"tokenize-chat", called, ""},
		{"tokenize-chat-nothink", plain, `{"enable_thinking":false}`},
	} {
		t.Run(c.recording, func(t *testing.T) {
			e := all[c.recording]
			cl := renderer(t, map[string][]byte{e.Path: e.Response}, func(_ string, body []byte) {
				for _, field := range []string{"model", "messages", "tools", "chat_template_kwargs"} {
					got, want := gjson.GetBytes(body, field).Raw, gjson.GetBytes(e.Body, field).Raw
					if got != want {
						t.Errorf("%s: asked %s, recorded %s", field, got, want)
					}
				}
			})
			got, err := cl.Render(t.Context(), c.turn, json.RawMessage(c.switches))
			if err != nil {
				t.Fatal(err)
			}
			_, body, _ := strings.Cut(string(e.Response), "\r\n\r\n")
			var want []uint32
			if err := json.Unmarshal([]byte(gjson.Get(body, "tokens").Raw), &want); err != nil || len(want) == 0 {
				t.Fatal("the recording holds no tokens")
			}
			if !slices.Equal(got.IDs, want) {
				t.Errorf("got %v, want %v", got.IDs, want)
			}
		})
	}
}

// TestRenderRoutes checks which route is asked, and what an answer means.
func TestRenderRoutes(t *testing.T) {
	const ids = `{"tokens":[1,2]}`
	forbidden := says(http.StatusForbidden, `{"error":{"message":"Scale-out endpoints are disabled.","code":403}}`)
	for _, c := range []struct {
		name             string
		tokenize, render []byte
		want             []uint32
		is               func(error) bool
	}{
		{"tokenize", says(200, ids), nil, []uint32{1, 2}, nil},
		{"render where there is no tokenize", nil, says(200, `{"token_ids":[3]}`), []uint32{3}, nil},
		{"render where tokenize knows no ids", says(200, `{"count":2}`), says(200, `{"token_ids":[3]}`), []uint32{3}, nil},
		{"neither", nil, nil, nil, unsupported},
		{"render is disabled", nil, forbidden, nil, unsupported},
		{"refused", says(400, `{"error":{"message":"roles must alternate","code":400}}`), nil, nil, refused},
		{"engine's fault", says(500, `{"error":{"message":"x"}}`), nil, nil, lost},
		{"no JSON", says(200, `<html>`), nil, nil, unsupported},
		{"no ids", says(200, `{"tokens":[-1]}`), nil, nil, unsupported},
		{"cut", []byte("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"tok"), nil, nil, lost},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers := map[string][]byte{}
			for path, a := range map[string][]byte{"/tokenize": c.tokenize, "/v1/chat/completions/render": c.render} {
				if a != nil {
					answers[path] = a
				}
			}
			got, err := renderer(t, answers, func(string, []byte) {}).Render(t.Context(), terse(), nil)
			if !slices.Equal(got.IDs, c.want) || (err == nil) != (c.is == nil) || err != nil && !c.is(err) {
				t.Errorf("got %v, %v", got.IDs, err)
			}
		})
	}
}

func unsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
func lost(err error) bool        { return errors.Is(err, turn.ErrLost) }
func refused(err error) bool     { return errors.As(err, new(*turn.Refused)) }
