package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/replay"
)

// Rows of runs that were interrupted say so.
func TestReplayInterrupted(t *testing.T) {
	runs := []*replay.Result{{Strategy: "kv", Seed: 1, Turns: 3, PerSecond: 2}}
	doc := replayDoc{V: 1, Rows: replay.Rows(runs), Runs: runs, Missing: 2, Setup: replaySetup{Workers: 2}}
	var out bytes.Buffer
	if err := (&replayRun{}).print(&app{out: &out}, doc); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "kv") || !strings.Contains(out.String(), "interrupted: 1 of 3 runs done, rows are of those\n") {
		t.Errorf("got %q", out.String())
	}
}
