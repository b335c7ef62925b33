package main

import (
	"strings"
	"testing"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// Where no worker is ready each that is down is told once: one with its log's
// last words as the error, the others in a line.
func TestNoneReady(t *testing.T) {
	down := func(name, why string) snapshot.Worker { return snapshot.Worker{Name: name, State: "down", Why: why} }
	for _, c := range []struct {
		name    string
		workers []snapshot.Worker
		want    string
	}{
		{"none", nil, "dyn: ps: no worker is ready\n  no worker was started or attached\n  try: dyn logs\n"},
		{
			"two",
			[]snapshot.Worker{down("w0", "it ended 6 times\nits log"), down("w1", "it ended 6 times\nout of memory\nabort")},
			"! w0 is down: it ended 6 times\ndyn: ps: no worker is ready\n  w1 is down: it ended 6 times\n  out of memory\n  abort\n  try: dyn logs w1\n",
		},
		{"some turns by its chat API", []snapshot.Worker{{Name: "w0", State: "ready", Path: "both", PathWhy: "turns with images take its chat API"}}, "  w0: path both: turns with images take its chat API\n"},
		{"all turns by its chat API", []snapshot.Worker{{Name: "w0", State: "ready", Path: "chat", PathWhy: "its template\ndiffers"}}, "! w0: turns go to its own chat API: its template differs\n"},
		{"several ranks", []snapshot.Worker{{Name: "w0", State: "ready", Ranks: 4}}, "! w0: 4 data-parallel ranks behind one address: what they hold is guessed, since the engine chooses among them\n"},
		{"another is ready", []snapshot.Worker{{Name: "w0", State: "ready"}, down("w1", "killed\nlog")}, "! w1 is down: killed\n"},
		{"attached", []snapshot.Worker{{Name: "a0", State: "down", Why: "silent", Attached: true}}, "dyn: ps: no worker is ready\n  a0 is down: silent\n  try: dyn logs\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			s := snapshot.Snapshot{Workers: c.workers}
			(&app{err: &got}).odd(s)
			report(&got, "ps", anyReady(s), false)
			if got.String() != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", &got, c.want)
			}
		})
	}
}

// TestPoints: what is believed against what is found, in hundredths.
func TestPoints(t *testing.T) {
	for x, want := range map[float64]string{0.124: "+12", -0.3: "-30", 0.004: "0", -0.004: "0", 0: "0"} {
		if got := points(&x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
	if got := points(nil); got != "–" {
		t.Errorf("unknown: %s", got)
	}
}
