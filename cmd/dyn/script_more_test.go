package main

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
	"github.com/agentinfer/dyn/ledger"
)

// askStatus asks the daemon for a path, with a key or without, and checks the
// status: status 401 /v1/models sk-dyn-x.
func askStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: status <n> <path> [key]")
	}
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	d, ok := f.Daemon()
	if !ok {
		ts.Fatalf("no daemon is running")
	}
	req, err := http.NewRequest(http.MethodGet, d.URL+args[1], nil)
	ts.Check(err)
	if len(args) == 3 {
		req.Header.Set("Authorization", "Bearer "+args[2])
	}
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	resp.Body.Close()
	if want, err := strconv.Atoi(args[0]); err != nil || resp.StatusCode != want {
		ts.Fatalf("status %s, want %s", resp.Status, args[0])
	}
}

var secretForm = regexp.MustCompile(`sk-dyn-[A-Za-z0-9_-]{43}`)

// lastSecret puts the secret that the last command printed in a variable:
// secret BOB.
func lastSecret(ts *testscript.TestScript, _ bool, args []string) {
	found := secretForm.FindString(ts.ReadFile("stdout"))
	if found == "" {
		ts.Fatalf("no secret was printed")
	}
	ts.Setenv(args[0], found)
}

// launcherKey puts the key of the daemon's launchers in a variable.
func launcherKey(ts *testscript.TestScript, _ bool, args []string) {
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	d, _ := f.Daemon()
	ts.Setenv(args[0], d.Local)
}

// lastSession waits until the ledger has a turn that has ended, and puts the
// session of the latest one in a variable: session ONE.
func lastSession(ts *testscript.TestScript, _ bool, args []string) {
	f, err := folders.Find(ts.Getenv)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ok := control.Wait(ctx, 10*time.Millisecond, func() bool {
		r, err := ledger.OpenReader(f.Ledger())
		if err != nil {
			return false
		}
		defer r.Close()
		turns, err := r.Turns(context.Background(), ledger.Query{Limit: 1})
		if err != nil || len(turns) == 0 || turns[0].Session == "" || turns[0].Session == ts.Getenv("LAST") {
			return false
		}
		ts.Setenv(args[0], turns[0].Session)
		ts.Setenv("LAST", turns[0].Session)
		return true
	})
	if !ok {
		ts.Fatalf("no turn came to the ledger")
	}
}
