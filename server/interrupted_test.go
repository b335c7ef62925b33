package server

import (
	"context"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestNothingSaidIsNotKept: of a turn that was interrupted before its first
// token, the given beginning of a forced call does not come into the history.
func TestNothingSaidIsNotKept(t *testing.T) {
	ctx, hangUp := context.WithCancel(t.Context())
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: func(ctx context.Context, _ turn.Job) (turn.Stream, error) {
		hangUp() // the client's
		return &script{ctx: ctx}, nil
	}})
	tools := `,"tools":[{"type":"function","function":{"name":"a"}}]`
	st.post(ctx, chatPath, says("hi", tools+`,"tool_choice":"required"`))
	st.until("the turn has landed", func() bool { return st.s.count.canceled.Load() == 1 })
	var sent []uint32
	st.s.Update(&puppet{name: "w0", caps: caps(1000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		sent = j.Prompt.Flat()
		return aWord(ctx, j)
	}})
	st.post(t.Context(), chatPath, `{"model":"sim"`+tools+`,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":""},{"role":"user","content":"more"}]}`)
	all := string(simModel(t).Tokenizer().Decode(nil, sent))
	if !strings.Contains(all, "more") || strings.Contains(all, "assistant\n<tool_call>") {
		t.Errorf("the history holds what nobody said: %q", all[max(len(all)-200, 0):])
	}
}
