package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/server/life"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/turn"
)

// livesBrain calls a tool where it is asked to look, and talks slowly where it
// is asked to.
const livesBrain = `
  - when: 'look at it'
    say: |-
      <tool_call>
      {"name": "Look", "arguments": {}}
      </tool_call>
  - when: 'slowly'
    say: a long answer of many words that takes its time
    token_ms: 200
  - say: So it is.
`

// api is how a dialect asks, and how for a title.
type api struct {
	name  turn.Dialect
	path  string
	title string
	body  func(text, more string) string
}

var apis = []api{
	{turn.Chat, "/v1/chat/completions", `{"model":"sim","messages":[{"role":"system","content":"Generate a short title."},{"role":"user","content":"hi"}]}`, func(text, more string) string {
		return `{"model":"sim","messages":[{"role":"user","content":` + quote(text) + `}],"tools":[{"type":"function","function":{"name":"Look"}}]` + more + `}`
	}},
	{turn.Responses, "/v1/responses", `{"model":"sim","instructions":"Generate a short title.","input":"hi"}`, func(text, more string) string {
		return `{"model":"sim","input":[{"role":"user","content":` + quote(text) + `}],"tools":[{"type":"function","name":"Look"}]` + more + `}`
	}},
	{turn.Messages, "/v1/messages", `{"model":"sim","max_tokens":500,"system":"Generate a short title.","messages":[{"role":"user","content":"hi"}]}`, func(text, more string) string {
		return `{"model":"sim","max_tokens":500,"messages":[{"role":"user","content":` + quote(text) + `}],"tools":[{"name":"Look","input_schema":{"type":"object"}}]` + more + `}`
	}},
}

// asks sends a turn of an agent, "" for the lead.
func (r *rig) asks(d api, session, agent, text, more string) {
	r.t.Helper()
	headers := []string{"x-dyn-session-id", session}
	if agent != "" {
		headers = []string{"x-dyn-session-id", agent, "x-dyn-parent-session-id", session}
	}
	body := d.body(text, more)
	if text == "" {
		body = d.title
	}
	if status, answer := r.post(d.path, body, headers...); status != 200 {
		r.t.Fatalf("%s: %s/%s: %d %s", d.name, session, agent, status, answer)
	}
}

// agent waits until an agent of a session has no turn, and returns it.
func (r *rig) agent(session, agent string) (a *session.Agent, l life.State) {
	r.t.Helper()
	r.until("agent "+session+"/"+agent+" has no turn", func() bool {
		for _, a = range r.s.sessions.Family(session) {
			g := a.Figures()
			if l = a.Life(); a.Who.Agent == agent && g.Turns > 0 && g.Waiting+g.Prefill+g.Streaming == 0 && l.Doing != life.Due {
				return true
			}
		}
		return false
	})
	return a, l
}

// hot is how many tokens of sessions the gate counts at the rig's worker.
func (r *rig) hot() int {
	m, _ := r.s.known("sim")
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.members {
		c := route.Candidate{Worker: name}
		m.books.Fill(time.Now().Add(time.Second), &route.Need{}, &c)
		return c.Hot
	}
	return -1
}

// events reads the ledger's events of agents, once there are n.
func (r *rig) events(n int) (all []ledger.AgentEvent) {
	r.t.Helper()
	r.until("events in the ledger", func() bool {
		rd, err := ledger.OpenReader(r.path)
		if err != nil {
			return false
		}
		defer rd.Close()
		all, err = rd.AgentEvents(r.t.Context(), ledger.Query{})
		return err == nil && len(all) >= n
	})
	return all
}

// shown is an agent in the picture.
func (r *rig) shown(session, agent string) (found snapshot.Agent) {
	r.t.Helper()
	r.until(session+"/"+agent+" is shown", func() bool {
		for _, s := range r.s.draw(time.Now()).Sessions {
			for _, a := range s.Agents {
				if found = a; s.ID == session && a.ID == agent {
					return true
				}
			}
		}
		return false
	})
	return found
}

// TestHooks tells the daemon what a harness's hooks tell, over a real socket,
// beside turns in each dialect: tools, the subagent's end, the session's end.
func TestHooks(t *testing.T) {
	for _, d := range apis {
		t.Run(string(d.name), func(t *testing.T) {
			r := newRig(t, 1, brainFile(t, livesBrain))
			path := filepath.Join(t.TempDir(), "hook.sock")
			ln, err := net.ListenPacket("unixgram", path)
			if err != nil {
				t.Fatal(err)
			}
			over := make(chan error)
			go func() { over <- r.s.ServeHooks(ln) }()
			c, err := net.Dial("unixgram", path)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			heard := 0
			tell := func(n life.Note) {
				t.Helper()
				if _, err := c.Write(n.Append(nil)); err != nil {
					t.Fatal(err)
				}
				heard++
				r.until("the note is taken", func() bool { return r.s.count.hooks.heard.Load() == int64(heard) })
			}
			tell(life.Note{Event: life.Started, Session: "s", Why: "startup"})
			r.asks(d, "s", "", "look at it", "")
			if _, l := r.agent("s", "main"); l.Doing != life.Tool || l.Tool != "Look" || !l.Told.IsZero() {
				t.Fatalf("after a call it does %+v", l)
			}
			tell(life.Note{Event: life.ToolBegan, Session: "s", Tool: "Look", Call: "c"})
			if got := r.shown("s", "main"); got.State != "tool" || got.Tool != "Look" || !got.Told {
				t.Errorf("while the tool runs it is shown as %+v", got)
			}
			tell(life.Note{Event: life.ToolEnded, Session: "s", Tool: "Look", Call: "c", Took: 1500 * time.Millisecond})
			r.asks(d, "s", "", "go on", "")
			r.agent("s", "main")
			for range 2 { // the first alone does not show that it comes back
				r.asks(d, "s", "sub", "a task", "")
				r.agent("s", "sub")
			}
			was := r.hot()
			tell(life.Note{Event: life.AgentEnded, Session: "s", Agent: "sub", Why: "Explore"})
			if got := r.shown("s", "sub"); got.State != "done" || got.Why != "told" {
				t.Errorf("the subagent is shown as %+v", got)
			}
			after := r.hot()
			if after >= was || after == 0 {
				t.Errorf("%d hot tokens before the subagent's end, %d after it", was, after)
			}
			tell(life.Note{Event: life.SessionEnded, Session: "s", Why: "clear"})
			if got := r.hot(); got != 0 {
				t.Errorf("%d tokens are hot of a session that is over", got)
			}
			rows := r.events(heard)
			for i, want := range []ledger.AgentEvent{
				{Session: "s", Agent: "main", Event: "started", MS: -1, Detail: "startup"},
				{Session: "s", Agent: "main", Model: "sim", Event: "tool", Tool: "Look", MS: -1},
				{Session: "s", Agent: "main", Model: "sim", Event: "tool done", Tool: "Look", MS: 1500},
				{Session: "s", Agent: "sub", Model: "sim", Event: "agent done", MS: -1, Detail: "Explore"},
				{Session: "s", Agent: "main", Model: "sim", Event: "session done", MS: -1, Detail: "clear"},
			} {
				want.At, want.Source = rows[i].At, byHook
				if rows[i] != want {
					t.Errorf("row %d is %+v, want %+v", i, rows[i], want)
				}
			}
			r.asks(d, "s", "", "go on", "") // it was not over
			if got := r.hot(); got == 0 {
				t.Error("a session that goes on is not hot")
			}
			ln.Close()
			if err := <-over; err != nil {
				t.Errorf("the socket was closed: %v", err)
			}
		})
	}
}

// TestHooksHostile: what is no note, or one too many, is dropped and counted,
// and turns are served as ever.
func TestHooksHostile(t *testing.T) {
	r := newRig(t, 1)
	path := filepath.Join(t.TempDir(), "hook.sock")
	ln, err := net.ListenPacket("unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go r.s.ServeHooks(ln)
	c, err := net.Dial("unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, s := range []string{"", "{", `{"v":1}`, strings.Repeat("x", 3*life.Most), `{"v":9,"event":"tool","session":"s"}`} {
		c.Write([]byte(s))
	}
	r.until("five are counted", func() bool { return r.s.count.hooks.malformed.Load() == 5 })
	note := life.Note{Event: life.ToolBegan, Session: "nobody", Tool: "x"}.Append(nil)
	const many = 3 * notesBurst
	for range many {
		if _, err := c.Write(note); err != nil {
			t.Fatal(err)
		}
	}
	counts := &r.s.count.hooks
	r.until("all are counted", func() bool { return counts.heard.Load()+counts.crowded.Load() == many })
	if counts.crowded.Load() == 0 {
		t.Error("none was one too many")
	}
	r.asks(apis[0], "s", "", "hello", "")
	if p := r.s.draw(time.Now()).Hooks; p.Malformed != 5 || p.Heard+p.Crowded != many {
		t.Errorf("shown are %+v", p)
	}
}

// TestNotesOfKeys: a harness does not know that its turns came with a key.
func TestNotesOfKeys(t *testing.T) {
	r := newRig(t, 1)
	r.s.SetKeys([]turn.Key{{Name: "team", Hash: sha256.Sum256([]byte("secret"))}})
	status, answer := r.post(chatPath, says("hello", ""), "x-dyn-session-id", "s", "x-api-key", "secret")
	if status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	r.agent("team/s", "main")
	r.s.hear(time.Now(), life.Note{Event: life.SessionEnded, Session: "s"})
	if _, l := r.agent("team/s", "main"); l.Doing != life.Done {
		t.Errorf("it does %+v", l)
	}
}

// TestLivesSeen: without hooks, in each dialect, ends and pauses are seen by the
// turns themselves, or said by their hints.
func TestLivesSeen(t *testing.T) {
	hint := func(s string) string { return `,"nvext":{"agent_hints":{` + s + `}}` }
	for _, d := range apis {
		t.Run(string(d.name), func(t *testing.T) {
			r := newRig(t, 1, brainFile(t, livesBrain))
			does := func(session, agent string, want life.Doing, why string) {
				t.Helper()
				if _, l := r.agent(session, agent); l.Doing != want || !strings.HasPrefix(l.Why, why) {
					t.Errorf("%s/%s does %+v, want %q, %q", session, agent, l, want, why)
				}
			}
			r.asks(d, "a", "", "hello", "")
			does("a", "main", life.Idle, "")
			r.asks(d, "a", "sub", "a task", "")
			r.asks(d, "a", "busy", "look at it", "") // has no last word yet
			does("a", "sub", life.Idle, "")
			r.asks(d, "a", "", "its result is here", "")
			does("a", "sub", life.Done, "its parent went on")
			does("a", "busy", life.Tool, "")

			r.asks(d, "b", "sub", "a task", hint(`"ephemeral":true`))
			does("b", "sub", life.Done, "ephemeral")
			r.asks(d, "b", "step", "look at it", hint(`"ephemeral":true`))
			does("b", "step", life.Tool, "")
			r.asks(d, "b", "word", "a task", hint(`"agent_state":"finished"`))
			does("b", "word", life.Done, "agent_state finished")
			r.asks(d, "b", "last", "a task", hint(`"turns_left":0`))
			does("b", "last", life.Done, "session_final")
			r.asks(d, "b", "more", "a task", hint(`"turns_left":2`))
			does("b", "more", life.Idle, "")
			r.asks(d, "b", "", "the end", hint(`"session_final":true`))
			does("b", "main", life.Done, "session_final")
			does("b", "step", life.Done, "session_final")

			r.asks(d, "c", "", "", "")
			does("c", "title", life.Done, "no conversation: title")
			r.asks(d, "c", "", "CRITICAL: Respond with TEXT ONLY. Sum it up.", "")
			does("c", "main", life.Compacting, "")
			r.asks(d, "c", "", "go on", "")
			does("c", "main", life.Idle, "")

			r.interrupt(d)
			does("d", "main", life.Idle, "")

			r.s.hush(time.Now().Add(quietFor - time.Minute))
			does("d", "main", life.Idle, "")
			r.s.hush(time.Now().Add(quietFor + time.Minute))
			does("d", "main", life.Done, "quiet")
			does("c", "main", life.Done, "quiet")
			if got := r.hot(); got != 0 {
				t.Errorf("%d tokens are hot though all is over", got)
			}
		})
	}
}

// interrupt sends a turn of session d and hangs up while its answer comes.
func (r *rig) interrupt(d api) {
	r.t.Helper()
	ctx, hangUp := context.WithCancel(r.t.Context())
	defer hangUp()
	resp := r.send(ctx, d.path, d.body("speak slowly", `,"stream":true`), "x-dyn-session-id", "d")
	defer resp.Body.Close()
	if _, err := io.ReadAtLeast(resp.Body, make([]byte, 1), 1); err != nil {
		r.t.Fatal(err)
	}
	r.until("its answer comes", func() bool { return r.s.streaming.Load() > 0 })
	hangUp()
	if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, context.Canceled) {
		r.t.Fatalf("it was not broken off: %v", err)
	}
}
