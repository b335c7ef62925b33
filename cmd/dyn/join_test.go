package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/control"
	"github.com/agentinfer/dyn/cmd/dyn/internal/folders"
)

// A daemon whose end is near still holds its lock: whoever joins it then
// learns that it has left, and does not hear that nothing runs.
func TestJoinOneThatLeaves(t *testing.T) {
	for _, c := range []struct {
		name  string
		ready bool
		state string // as its control socket tells; "" is silence
	}{{"killed", true, ""}, {"never ready", false, "degraded"}, {"stopping", true, "stopping"}} {
		t.Run(c.name, func(t *testing.T) {
			f, err := folders.Find(homeAt(t.TempDir()))
			if err != nil {
				t.Fatal(err)
			}
			lock, err := f.Take()
			if err != nil {
				t.Fatal(err)
			}
			if err := lock.Write(folders.Daemon{PID: os.Getpid(), Ready: c.ready}); err != nil {
				t.Fatal(err)
			}
			if c.state != "" {
				control, err := net.Listen("unix", f.Socket())
				if err != nil {
					t.Fatal(err)
				}
				defer control.Close()
				go http.Serve(control, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					fmt.Fprintf(w, `{"daemon":{"state":%q}}`, c.state)
				}))
			}
			end := make(chan error, 1)
			go func() { end <- join(t.Context(), f, plan{}, &steps{out: io.Discard, err: io.Discard}) }()
			select {
			case err := <-end:
				t.Fatalf("join = %v while the lock is held, want it to wait", err)
			case <-time.After(50 * time.Millisecond):
			}
			lock.Release()
			if err := <-end; !errors.Is(err, errLeft) {
				t.Fatalf("join = %v, want %v", err, errLeft)
			}
		})
	}
}

// Waiting ends with the one who waits, and says what it waited for.
func TestJoinInterrupted(t *testing.T) {
	f, err := folders.Find(homeAt(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	lock, err := f.Take()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = settled(ctx, f, control.New(f.Socket()), plan{})
	if got := understand("up", err); got.code != interrupted {
		t.Fatalf("settled = %v, exit code %d, want %d", err, got.code, interrupted)
	}
}

// homeAt is an environment with nothing but a home.
func homeAt(dir string) func(string) string {
	return func(name string) string { return map[string]string{"HOME": dir}[name] }
}
