package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
)

// release builds the program anew, as another version of itself, and returns
// where it is.
func release(t *testing.T, number string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dyn")
	out, err := exec.Command("go", "build", "-ldflags", "-X main.version="+number, "-o", path, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// Another release of the program takes the engines over that the one before
// left, and the one before takes them back: conversations go on from what is
// cached.
func TestUpgrade(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program once more")
	}
	const block = 16
	next := release(t, "99.1.0")
	h := newHouse(t)
	h.up(t)
	before := h.workers(t)
	chats := make([]*chat, 6)
	for i := range chats {
		chats[i] = &chat{}
		chats[i].hears("system", strings.Repeat(fmt.Sprintf("You are agent number %d. ", i), 40))
		chats[i].ask(t, h.url, "go on")
	}
	turns := len(chats)
	for _, r := range []struct{ dyn, version string }{{next, "99.1.0"}, {"dyn", version}} {
		h.recorded(t, turns)
		h.dyn = r.dyn
		if said := h.run(t, "up"); !strings.Contains(said, "this is "+r.version+"; to change over: ") || h.workers(t) != before {
			t.Errorf("%s beside another release that runs says %s", r.version, said)
		}
		h.kill(t)
		h.up(t)
		if after := h.workers(t); after != before {
			t.Fatalf("%s: workers are %s, before %s", r.version, after, before)
		}
		s, err := control.New(h.f.Socket()).Snapshot(t.Context())
		if err != nil || s.Daemon.Version != r.version {
			t.Fatalf("the daemon is version %q, %v; want %s", s.Daemon.Version, err, r.version)
		}
		for i, c := range chats {
			held := c.prompt + c.answer
			c.ask(t, h.url, "go on")
			if c.cached == 0 || held-c.cached > block {
				t.Errorf("%s: session %d held %d tokens, %d were cached", r.version, i, held, c.cached)
			}
		}
		turns += len(chats)
	}
}
