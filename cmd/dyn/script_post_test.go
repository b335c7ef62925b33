package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/ledger"
)

// postFile sends a file of the script to the daemon in a session's name, and
// waits until the turn's row is in the ledger: post /v1/messages body.json s1.
func postFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: post <path> <file> <session>")
	}
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	d, ok := f.Daemon()
	if !ok {
		ts.Fatalf("no daemon is running")
	}
	began := time.Now()
	req, err := http.NewRequest(http.MethodPost, d.URL+args[0], bytes.NewReader([]byte(ts.ReadFile(args[1]))))
	ts.Check(err)
	req.Header.Set("x-session-id", args[2])
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	answer, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	ts.Check(err)
	if resp.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %s", resp.Status, answer)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if !control.Wait(ctx, 10*time.Millisecond, func() bool {
		r, err := ledger.OpenReader(f.Ledger())
		if err != nil {
			return false
		}
		defer r.Close()
		t, ok, err := r.Latest(ctx, args[2])
		return err == nil && ok && t.Outcome != "" && !t.At.Before(began)
	}) {
		ts.Fatalf("no row came to the ledger")
	}
}
