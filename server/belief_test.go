package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/turn"
)

// kept is a worker whose engine outlived a daemon and tells nothing of what it
// holds.
type kept struct{ *puppet }

func (k kept) Info() turn.WorkerInfo {
	i := k.puppet.Info()
	i.Adopted = true
	return i
}

// TestAgentsGoBack: after a daemon has died, an agent's next turn goes to the
// engine that had its last one, when that one has outlived it.
func TestAgentsGoBack(t *testing.T) {
	const session, other = "s1", "s2"
	began := time.Now().Add(-time.Hour)
	since := map[string]time.Time{"w0": began, "w1": began, "w2": began}
	last := func(session, worker string, at time.Duration) ledger.Turn {
		return ledger.Turn{Session: session, Agent: "main", Worker: worker, At: began.Add(at), Prompt: 400, Output: 20}
	}
	for _, c := range []struct {
		name  string
		turns []ledger.Turn
		start func(*puppet) Worker
		want  string // "" is any
	}{
		{"its last turn", []ledger.Turn{last(session, "w2", time.Minute), last(session, "w1", 2*time.Minute), last(other, "w2", 3*time.Minute)}, func(p *puppet) Worker { return kept{p} }, "w1"},
		{"before the engine was started", []ledger.Turn{last(session, "w1", -time.Minute)}, func(p *puppet) Worker { return kept{p} }, ""},
		{"an engine that was started anew", []ledger.Turn{last(session, "w1", time.Minute)}, func(p *puppet) Worker { return p }, ""},
		{"a worker that is gone", []ledger.Turn{last(session, "w7", time.Minute)}, func(p *puppet) Worker { return kept{p} }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := newStage(t)
			went := make(chan string, 8)
			for _, name := range []string{"w0", "w1", "w2"} {
				blocks := caps(4000)
				blocks.BlockSize = 16
				st.s.Update(c.start(&puppet{name: name, caps: blocks, play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
					went <- name
					return aWord(ctx, j)
				}}))
			}
			st.s.Believe(c.turns, since)
			if status, body := st.post(t.Context(), chatPath, says(strings.Repeat("word ", 500), ""), "x-session-id", session); status != 200 {
				t.Fatalf("%d %s", status, body)
			}
			if got := <-went; c.want != "" && got != c.want {
				t.Errorf("it went to %s, want %s", got, c.want)
			}
			overlap := 0
			st.until("the turn is in the picture", func() bool {
				var sent int
				overlap = 0
				for _, w := range st.s.Snapshot().Workers {
					sent, overlap = sent+w.Decided, overlap+w.Predicted
				}
				return sent == 1
			})
			if want := map[bool]int{true: 416}[c.want != ""]; overlap != want {
				t.Errorf("the overlap is %d tokens, want %d", overlap, want)
			}
		})
	}
}
