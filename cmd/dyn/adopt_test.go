package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
)

// samePIDs remembers which processes the workers are, or checks that they are
// the ones that were remembered: workers [same].
func samePIDs(ts *testscript.TestScript, neg bool, args []string) {
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	s, err := control.New(f.Socket()).Snapshot(context.Background())
	ts.Check(err)
	now := ""
	for _, w := range s.Workers {
		now += fmt.Sprintf("%s %d %s ", w.Name, w.PID, w.State)
	}
	if len(args) == 0 {
		ts.Setenv("WORKERS", now)
	} else if before := ts.Getenv("WORKERS"); (now == before) == neg {
		ts.Fatalf("workers are %s, before %s", now, before)
	}
}

// spelled is a brain that answers letter by letter, as nobody would tokenize
// it: only the raw turns of the ledger bring the same prompt again.
const spelled = `rules:
  - when: "stay"
    say: "on and on and on and on and on and on and on and on and on and on and on and on and on"
    token_ms: 1000
  - say_ids: [116, 104, 101, 32, 102, 117, 110, 99, 116, 105, 111, 110, 32, 114, 101, 116, 117, 114, 110, 115, 32, 105, 116]
`

// The daemon is killed under load. The next one takes the engines over, and of
// what fifty sessions had in the cache at most one block each is computed
// again.
func TestSessionsOutliveTheDaemon(t *testing.T) {
	const sessions, block = 50, 16
	h := newHouse(t)
	h.up(t)
	before := h.workers(t)
	chats := make([]*chat, sessions)
	for i := range chats {
		chats[i] = &chat{}
		chats[i].hears("system", strings.Repeat(fmt.Sprintf("You are agent number %d. ", i), 40))
	}
	for range 2 {
		for _, c := range chats {
			c.ask(t, h.url, "go on")
		}
	}
	h.recorded(t, 2*sessions)
	load := h.load(t, 8)
	h.kill(t)
	load.Wait()

	began := time.Now()
	h.up(t)
	t.Logf("up again in %v", time.Since(began).Round(time.Millisecond))
	if after := h.workers(t); after != before {
		t.Fatalf("workers are %s, before %s", after, before)
	}
	worst, cached := 0, 0
	for i, c := range chats {
		held := c.prompt + c.answer
		c.ask(t, h.url, "go on")
		worst, cached = max(worst, held-c.cached), cached+c.cached
		if again := held - c.cached; again > block || c.cached == 0 {
			t.Errorf("session %d: of %d tokens it held, %d were computed again; %d of %d cached", i, held, again, c.cached, c.prompt)
		}
	}
	t.Logf("at most %d tokens of a session computed again, %d cached in all", worst, cached)
}

// A turn that comes as soon as the next daemon listens waits for the engines
// that it takes over.
func TestTurnBeforeTheEnginesAreTakenOver(t *testing.T) {
	h := newHouse(t)
	h.up(t)
	before, _ := h.f.Daemon()
	h.kill(t)
	up := make(chan string, 1)
	go func() { up <- h.run(t, "up", h.recipe, "--workers", "2") }()
	h.wait(t, "the next daemon listens", func() bool {
		d, ok := h.f.Daemon()
		h.url = d.URL
		return ok && d.PID != before.PID && d.URL != ""
	})
	c := &chat{}
	c.ask(t, h.url, "go on")
	<-up
}
