package server

import (
	"context"
	"fmt"
	"testing"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/turn"
)

// look is what the books say of a worker to somebody without a session.
func (st *stage) look(worker string) route.Candidate {
	m := st.model()
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.load(worker, m.members[worker])
	m.books.Fill(m.members[worker].info.Since, &route.Need{Prompt: 1}, &c)
	return c
}

func (st *stage) model() *model { return st.s.models["sim"] }

// asked runs f with the books.
func (st *stage) asked(f func(*route.Books)) {
	m := st.model()
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.books)
}

// TestBooksFollowATurn: a turn counts in the books from when it is sent, as one
// that decodes from its first token on, and no more when it has ended.
func TestBooksFollowATurn(t *testing.T) {
	first, end := make(chan struct{}), make(chan struct{})
	st := newStage(t, &puppet{name: "w0", caps: caps(4000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		return &gated{prompt: j.Prompt.Len(), gates: []chan struct{}{first, end}}, nil
	}})
	done := make(chan string)
	go func() {
		status, body := st.post(t.Context(), chatPath, says("hi", `,"session_id":"s"`), "x-session-id", "s")
		done <- fmt.Sprint(status, body)
	}()
	st.until("it is sent", func() bool { c := st.look("w0"); return c.InFlight == 1 && c.Pending > 0 })
	c := st.look("w0")
	if c.Pending != c.Active || c.Decoding != 0 || c.Backlog <= 0 || c.Rates.Token <= 0 {
		t.Errorf("sent: %+v", c)
	}
	first <- struct{}{}
	st.until("its first token is noted", func() bool { return st.look("w0").Decoding == 1 })
	if c = st.look("w0"); c.Pending != 0 || c.Backlog != 0 || c.InFlight != 1 {
		t.Errorf("begun: %+v", c)
	}
	close(end)
	if got := <-done; got[:3] != "200" {
		t.Fatal(got)
	}
	if c = st.look("w0"); c.InFlight != 0 || c.Decoding != 0 || c.Active != 0 {
		t.Errorf("ended: %+v", c)
	}
	st.asked(func(b *route.Books) {
		if b.Home("s") != "w0" || b.Lengths.Mean("turn", "") >= 548 {
			t.Errorf("at home at %q, answers of %.0f tokens", b.Home("s"), b.Lengths.Mean("turn", ""))
		}
	})
	st.model().forgetSession("s")
	st.asked(func(b *route.Books) {
		if n := b.Sessions(); b.Home("s") != "" || n != 0 {
			t.Errorf("forgotten, but %d sessions are known", n)
		}
	})
}

// gated gives a token for each gate that opens, the last with the end.
type gated struct {
	prompt int
	gates  []chan struct{}
}

func (g *gated) Next() (turn.Delta, error) {
	<-g.gates[0]
	g.gates = g.gates[1:]
	d := turn.Delta{Text: " word", IDs: []uint32{300}}
	if len(g.gates) == 0 {
		d.End = &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: g.prompt, Output: 2}}
	}
	return d, nil
}
func (g *gated) Close() error { return nil }

// TestBooksOfWorkers: a worker that evicts, begins anew or leaves has what is
// left of its account.
func TestBooksOfWorkers(t *testing.T) {
	p := &puppet{name: "w0", caps: caps(4000), play: aWord}
	p.caps.Events = true
	st := newStage(t, p)
	for i := range 3 {
		if status, body := st.post(t.Context(), chatPath, says("hi", ""), "x-session-id", fmt.Sprint("s", i)); status != 200 {
			t.Fatal(body)
		}
	}
	sessions := func(want int, when string) {
		t.Helper()
		st.asked(func(b *route.Books) {
			if got := b.Sessions(); got != want {
				t.Errorf("%s: %d sessions are at home, want %d", when, got, want)
			}
		})
	}
	sessions(3, "served")
	if st.look("w0").Age != 0 {
		t.Error("nothing was evicted yet")
	}
	st.s.KV(turn.KVBatch{Worker: "w0", Events: []turn.KVEvent{{Kind: turn.KVRemoved, Hashes: []uint64{1}, Tier: "host"}}})
	if st.look("w0").Age != 0 {
		t.Error("nothing was evicted from its GPUs")
	}
	st.s.KV(turn.KVBatch{Worker: "w0", Events: []turn.KVEvent{{Kind: turn.KVRemoved, Hashes: []uint64{1}, Tier: "gpu"}}})
	if st.look("w0").Age == 0 {
		t.Error("an eviction is not in the books")
	}
	st.s.KV(turn.KVBatch{Worker: "w0", Events: []turn.KVEvent{{Kind: turn.KVRestart}}})
	sessions(3, "events are told anew")
	st.s.KV(turn.KVBatch{Worker: "w0", Events: []turn.KVEvent{{Kind: turn.KVCleared}}})
	sessions(0, "cleared")
	st.post(t.Context(), chatPath, says("hi", ""), "x-session-id", "s9")
	sessions(1, "served again")
	p.set(turn.Down)
	st.s.Update(p)
	sessions(1, "down")
	p.set("")
	st.s.Update(p)
	sessions(0, "back")
}

// TestFinalTurnCloses: the last turn of a session, as its client says, leaves
// nothing that the session will want.
func TestFinalTurnCloses(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(4000), play: aWord})
	wanted := func(final string) float64 {
		body := says("hi", `,"nvext":{"agent_hints":{"session_final":`+final+`}}`)
		if status, got := st.post(t.Context(), chatPath, body, "x-session-id", "s"); status != 200 {
			t.Fatal(got)
		}
		c := st.look("w0")
		return float64(c.Hot)
	}
	wanted("false") // a first turn alone is nothing that others must spare
	if wanted("false") == 0 {
		t.Error("a session that goes on wants nothing")
	}
	if wanted("true") != 0 {
		t.Error("a session that has ended is hot")
	}
}

// TestLearnersHear: a rule that learns hears what became of its turns, and that
// a worker is gone.
func TestLearnersHear(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(4000), play: aWord})
	st.s.SetKnobs(Knobs{Strategy: "thompson"})
	before := string(st.s.Learnt()["sim thompson"])
	if status, body := st.post(t.Context(), chatPath, says("hi", "")); status != 200 {
		t.Fatal(body)
	}
	after := string(st.s.Learnt()["sim thompson"])
	if after == before || after == "" {
		t.Errorf("it has learnt nothing: %s", after)
	}
	st.s.Remove("w0")
	if gone := string(st.s.Learnt()["sim thompson"]); len(gone) >= len(after) {
		t.Errorf("a worker that is gone is remembered: %s", gone)
	}
}

// TestLowerTiers: what a worker has in lower tiers is told apart from what its
// GPUs have, and both are what it is taken to hold.
func TestLowerTiers(t *testing.T) {
	c := route.Candidate{Overlap: 16}
	tiers(&c, cache.Overlap{GPU: 2, Host: 3, Remote: 1, Blocks: 7, Tokens: 112}, 16)
	if c.Overlap != 48 || c.Lower != [3]int{48, 0, 16} || c.Holds() != 112 {
		t.Errorf("%+v", c)
	}
	tiers(&c, cache.Overlap{GPU: 6, Blocks: 6, Tokens: 96}, 16)
	if c.Overlap != 48 {
		t.Errorf("the shorter of two counts: %+v", c)
	}
}

// TestCallers: who asks, as the router tells turns apart.
func TestCallers(t *testing.T) {
	system := turn.Message{Role: turn.System, Blocks: []turn.Block{{Text: "you are"}}}
	asks := turn.Message{Role: turn.User, Blocks: []turn.Block{{Text: "hi"}}}
	calls := turn.Message{Role: turn.Assistant, Blocks: []turn.Block{{Kind: turn.ToolUse, ID: "1", Name: "Read"}, {Kind: turn.ToolUse, ID: "2", Name: "Bash"}}}
	results := turn.Message{Role: turn.ToolRole, Blocks: []turn.Block{{Kind: turn.ToolResult, ID: "1"}, {Kind: turn.ToolResult, ID: "2"}}}
	of := func(who turn.Who, tools []turn.Tool, ms ...turn.Message) caller {
		f := &flight{s: &Server{}, t: &turn.Turn{Who: who, Messages: ms, Tools: tools}}
		for i := range ms {
			f.rolling = append(f.rolling, uint64(i+1))
		}
		return f.calls()
	}
	lead := of(turn.Who{Session: "s", Agent: "main", Kind: "turn"}, nil, system, asks)
	sub := of(turn.Who{Session: "s", Agent: "a1", Parent: "main", Kind: "turn"}, nil, system, asks, calls, results)
	if lead.session != "s" || lead.parent != "" || lead.kind != "turn" || lead.tool != "" {
		t.Errorf("%+v", lead)
	}
	if sub.session != "s/a1" || sub.parent != "s" || sub.kind != "agent" || sub.tool != "Bash" {
		t.Errorf("%+v", sub)
	}
	if lead.prefix == 0 || lead.prefix != sub.prefix {
		t.Errorf("one system prompt, and %x and %x", lead.prefix, sub.prefix)
	}
	if other := of(turn.Who{}, []turn.Tool{{Name: "Read"}}, system, asks); other.prefix == lead.prefix {
		t.Error("tools are part of the prefix")
	}
	if none := of(turn.Who{}, nil, asks); none.prefix != 0 {
		t.Error("nothing is shared, and has a hash")
	}
	f := &flight{unnamed: true, t: &turn.Turn{Who: turn.Who{Session: "h0"}, Prompts: []turn.Prompt{{Text: "x"}}}}
	if c := f.calls(); c.session != "" {
		t.Errorf("a completion of nobody is of %q", c.session)
	}
}

// TestDynDecidesByBooks: with the rule "dyn" a turn that is sent counts at once,
// long before its worker says anything, and one whose client left no more.
func TestDynDecidesByBooks(t *testing.T) {
	slow := func(ctx context.Context, _ turn.Job) (turn.Stream, error) { return &script{ctx: ctx}, nil }
	ps := []*puppet{{name: "w0", caps: caps(4000), play: slow}, {name: "w1", caps: caps(4000), play: slow}}
	st := newStage(t, ps...)
	st.s.SetKnobs(Knobs{Strategy: "dyn"})
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 4 {
		go st.post(ctx, chatPath, says(words(300), ""), "x-session-id", fmt.Sprint("s", i))
		st.until("it is sent", func() bool { return st.look("w0").InFlight+st.look("w1").InFlight == i+1 })
	}
	if a, b := st.look("w0").InFlight, st.look("w1").InFlight; a != 2 || b != 2 {
		t.Errorf("%d and %d turns", a, b)
	}
	cancel()
	st.until("all are over", func() bool { return st.look("w0").InFlight+st.look("w1").InFlight == 0 })
	if c := st.look("w0"); c.Pending != 0 || c.Active != 0 || c.Backlog != 0 {
		t.Errorf("nobody is there, and %+v", c)
	}
}
