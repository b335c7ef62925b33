package keep_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/keep"
)

// A container does not end with its client: however that ends, it is taken
// away before the end is told.
func TestContainerGoesWithItsClient(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*keep.Kept) error
	}{
		{"on order", func(k *keep.Kept) error { k.End(10 * time.Millisecond); return nil }},
		{"by itself", func(k *keep.Kept) error { return syscall.Kill(k.Engine.PID, syscall.SIGKILL) }},
		{"with its keeper", func(k *keep.Kept) error { return syscall.Kill(k.Keeper.PID, syscall.SIGKILL) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			docker := filepath.Join(t.TempDir(), "docker")
			script := "#!/bin/sh\ncase $1 in\nrun) trap '' TERM; touch $0.box; sleep 600 & wait; wait ;;\nrm) rm $0.box ;;\nesac\n"
			if err := os.WriteFile(docker, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			box := func() bool { _, err := os.Stat(docker + ".box"); return !errors.Is(err, fs.ErrNotExist) }
			r := newRig(t, docker, "run")
			r.o.Record.Remove = []string{docker, "rm", "--force", "dyn-w0-1"}
			k := r.start(t)
			eventually(t, "the container runs", box)
			if err := c.end(k); err != nil {
				t.Fatal(err)
			}
			<-k.Exited()
			if box() {
				t.Fatal("it is still there")
			}
			r.ends(t, k)
		})
	}
}

// One that cannot be taken away is told with the end.
func TestContainerThatStays(t *testing.T) {
	docker := filepath.Join(t.TempDir(), "docker")
	script := "#!/bin/sh\ncase $1 in run) exit 3 ;; esac\necho no service >&2\nexit 1\n"
	if err := os.WriteFile(docker, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, docker, "run")
	r.o.Record.Remove = []string{docker, "rm", "--force", "dyn-w0-1"}
	log, err := os.Create(r.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k, err := keep.Start(self, r.o, log)
	if err == nil {
		<-k.Exited()
		err = k.Err()
	}
	if err == nil || !strings.Contains(err.Error(), "exit status 3; then ") || !strings.Contains(err.Error(), "rm --force dyn-w0-1: exit status 1: no service") {
		t.Fatalf("ended by %v", err)
	}
}

// A run file is a file, and no way to have a command run.
func TestForeignCommand(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	r := newRig(t, "sleep", "600")
	r.o.Record.Remove = []string{"touch", mark, "rm", "--force", "dyn-w0-1"}
	k := r.start(t)
	if err := syscall.Kill(k.Keeper.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.ends(t, k)
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("it was run")
	}
}
