package conform

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// talk is a turn for the server's own chat API.
func (s *suite) talk(text string, tokens int) turn.Job {
	j := s.job(nil, tokens)
	j.Prompt = turn.IDs{}
	j.Chat = &turn.Turn{Messages: []turn.Message{{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: text}}}}}
	return j
}

// chat: a conversation is answered by the server's own chat API, with and
// without tools; a cancel frees the engine, and one that is too long is
// refused with numbers.
func (s *suite) chat(t *testing.T) {
	if !s.caps.Chat {
		t.Skip("SKIPPED: the server has no chat API")
	}
	plain := s.talk("Say something.", 12)
	tools := s.talk("Look at the files.", 12)
	tools.Chat.Tools = []turn.Tool{{Name: "ls", Description: "lists files", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}
	for name, j := range map[string]turn.Job{"plain": plain, "with a tool": tools} {
		a := s.ask(t.Context(), s.client, j)
		if a.err != nil {
			t.Errorf("%s: %v", name, a.err)
			continue
		}
		if u := a.end.Usage; a.text+a.read == "" || u.Prompt < 3 || u.Output < 1 || u.Output > 12 || u.Cached > u.Prompt {
			t.Errorf("%s: %q and %q, usage %+v", name, a.text, a.read, u)
		}
	}
	stream, err := s.client.Generate(t.Context(), s.talk("Tell a long story.", 1000))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Next(); err != nil {
		t.Error(err)
	}
	stream.Close()
	t.Logf("the server is free after %v", s.idle(t))
	if s.Context == 0 {
		return
	}
	a := s.ask(t.Context(), s.client, s.talk(strings.Repeat("word ", 2*s.Context), 12))
	var r *turn.Refused
	if !errors.As(a.err, &r) || r.Limit < s.Context-1 || r.Limit > s.Context || r.Prompt <= r.Limit {
		t.Errorf("too long is %q, %v, %+v", a.text, a.err, r)
	}
}
