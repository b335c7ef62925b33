package main

import (
	"context"
	"fmt"

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
