package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger"
)

// served begins a turn of a ledger.
func servedTurn(at time.Duration, session, agent string, prompt int) ledger.Turn {
	return ledger.Turn{
		ID: session + agent + at.String(), At: time.Unix(1_700_000_000, 0).Add(at), Session: session, Agent: agent, Kind: "turn", Harness: "claude-code",
		Model: "m", Worker: "w0", Prompt: prompt, Cached: -1, Output: 50, TotalMS: 2000, Outcome: "calls",
	}
}

func TestServed(t *testing.T) {
	first := servedTurn(0, "a", "main", 1000)
	first.Cached = 640
	second := servedTurn(10*time.Second, "a", "main", 1600)
	sub := servedTurn(12*time.Second, "a", "sub", 700)
	sub.Parent = "main"
	title := servedTurn(13*time.Second, "a", "main", 90)
	title.Kind = "title"
	other := servedTurn(20*time.Second, "b", "main", 2000)
	other.Cached = 640
	third := servedTurn(30*time.Second, "a", "main", 2000)
	third.Break, third.Outcome = `{"kind":"clock","token":330}`, "end"
	refused := servedTurn(31*time.Second, "a", "main", -1)
	fourth := servedTurn(40*time.Second, "a", "main", 800)

	got, err := Served([]ledger.Turn{first, second, sub, title, other, third, refused, fourth})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Sessions) != 4 || got.Turns() != 7 || !got.Timed || !got.Paused {
		t.Fatalf("want 4 sessions with 7 turns, got %d with %d", len(got.Sessions), got.Turns())
	}
	main, kid, aside, b := got.Sessions[0], got.Sessions[1], got.Sessions[2], got.Sessions[3]
	if kid.Parent != 1 || kid.After != 2 || kid.At != 12*time.Second {
		t.Errorf("want a sub-agent of the first session after its 2 turns, got parent %d after %d at %s", kid.Parent, kid.After, kid.At)
	}
	if aside.Parent != 0 || len(aside.Turns) != 1 {
		t.Errorf("want the title by itself, got %+v", aside)
	}
	for i, want := range []struct {
		keep  int
		pause time.Duration
		human bool
	}{
		{0, 0, false},
		{1000 / 16, 8 * time.Second, false},
		{330 / 16, 18 * time.Second, false}, // where the break was
		{640 / 16, 8 * time.Second, true},   // shorter than before: what all share is left
	} {
		u := main.Turns[i]
		if u.Keep != want.keep || u.Pause != want.pause || u.Human != want.human || u.Len() != u.Prompt/16 {
			t.Errorf("turn %d: want %+v, got keep %d pause %s human %v, %d contents of %d tokens", i, want, u.Keep, u.Pause, u.Human, u.Len(), u.Prompt)
		}
	}
	var one, two []uint64
	one, two = main.Turns[0].Contents(one), b.Turns[0].Contents(two)
	alike := 0
	for alike < len(one) && one[alike] == two[alike] {
		alike++
	}
	if alike != 640/16 || main.Shared != 640 || main.Prefix == 0 || main.Prefix != b.Prefix {
		t.Errorf("want %d contents alike, got %d; prefixes %x, %x", 640/16, alike, main.Prefix, b.Prefix)
	}
	if notes := strings.Join(got.Notes, " "); !strings.Contains(notes, "estimated") || !strings.Contains(notes, "left out: 1") {
		t.Errorf("notes: %q", notes)
	}
	if _, err := Served([]ledger.Turn{refused}); err == nil {
		t.Error("a ledger without a counted prompt made a trace")
	}
}
