package server

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/turn"
)

// thinkingBrain writes arguments and white space as no template would print
// them, and thinks before it answers.
const thinkingBrain = `
  - when: 'go on<\|im_end\|>\s*<\|im_start\|>assistant'
    say: |-
      <think>
      All  is done.
      </think>

      Nothing is left.
  - when: 'contents of a'
    say: |-
      <think>
      So  that is in it.
      </think>

      The file says a.
  - when: 'read the file'
    say: |-
      <think>
      I should   look.
      </think>

      Let me look.
      <tool_call>
      {"arguments":{"limit":2 ,"path":"/a"},"name":"Read"}
      </tool_call>
`

// again is a new daemon over the engines and the ledger of r, which ends.
func (r *rig) again() *rig {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r.s.Shutdown(ctx)
	r.fleet.Stop(ctx, 0)
	r.ledger.Close()
	n := &rig{t: r.t, path: r.path, ledger: ledger.Open(r.path, ledger.Options{}), sims: r.sims}
	n.s = New(Options{Ledger: n.ledger})
	n.fleet = engine.NewFleet(engine.Options{
		Logs: r.t.TempDir(), Adapters: r.adapters(), Poll: 50 * time.Millisecond,
		OnChange: func(w *engine.Worker) { n.s.Update(seats{w, 0}) }, OnKV: n.s.KV,
	})
	n.s.AddModel(Model{ID: "sim", Prompt: simModel(r.t), Parser: hermes})
	for _, url := range n.sims {
		if _, err := n.fleet.Attach(r.t.Context(), turn.Attach{URL: url}); err != nil {
			r.t.Fatal(err)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	n.url = "http://" + ln.Addr().String()
	go n.s.Serve(ln, n.url)
	r.t.Cleanup(n.close)
	return n
}

// TestRestartChangesNoPrompt lets the daemon be started anew between turns of
// a session: prompts and hits are those of a session without a restart,
// though the client sends neither the reasoning nor the arguments as the
// model wrote them.
func TestRestartChangesNoPrompt(t *testing.T) {
	for _, c := range conversations() {
		if c.name != "messages" {
			continue
		}
		play := func(restarts bool) []ledger.Turn {
			r := newRig(t, 1, brainFile(t, thinkingBrain))
			third := `,{"role":"assistant","content":"The file says a."},{"role":"user","content":"go on"}]}`
			fourth := third[:len(third)-2] + `,{"role":"assistant","content":"Nothing is left."},{"role":"user","content":"go on"}]}`
			var id string
			for i, body := range []string{c.first, c.second, c.second, c.second} {
				if i > 0 {
					body = fmt.Sprintf(body, id)
				}
				if i > 1 {
					body = body[:len(body)-2] + []string{third, fourth}[i-2]
				}
				status, answer := r.post(c.path, body)
				if status != 200 {
					t.Fatalf("turn %d: %d %s", i, status, answer)
				}
				if i == 0 {
					if id = str(dig(doc(t, answer), "content", 2, "id")); id == "" {
						t.Fatalf("no call in %s", answer)
					}
				}
				r.rows(i + 1)
				if restarts {
					r = r.again()
				}
			}
			return r.rows(4)
		}
		want, got := play(false), play(true)
		for i := 1; i < 4; i++ {
			fresh := want[i].Prompt - want[i-1].Prompt - want[i-1].Output
			if again := want[i].Prompt - want[i].Cached; again > fresh+2*16 {
				t.Errorf("turn %d computes %d, new are %d", i, again, fresh)
			}
			if got[i].Prompt != want[i].Prompt || got[i].Cached != want[i].Cached || got[i].Edited != 0 {
				t.Errorf("turn %d after a restart: prompt %d, cached %d, edited %d; want %d and %d", i, got[i].Prompt, got[i].Cached, got[i].Edited, want[i].Prompt, want[i].Cached)
			}
		}
	}
}
