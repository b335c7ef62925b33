package folders

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name          string
		env           []string
		config, state string
		bad           bool
	}{
		{"home only", []string{"HOME", "/h"}, "/h/.config/dyn", "/h/.local/state/dyn", false},
		{"named", []string{"HOME", "/h", "XDG_CONFIG_HOME", "/c", "XDG_STATE_HOME", "/s"}, "/c/dyn", "/s/dyn", false},
		{"relative is ignored", []string{"HOME", "/h", "XDG_STATE_HOME", "s"}, "/h/.config/dyn", "/h/.local/state/dyn", false},
		{"nothing set", nil, "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Find(env(c.env...))
			if (err != nil) != c.bad {
				t.Fatalf("error = %v, want one: %v", err, c.bad)
			}
			if f.Config != c.config || f.State != c.state {
				t.Fatalf("got %q %q, want %q %q", f.Config, f.State, c.config, c.state)
			}
		})
	}
}

func TestSocketFits(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("deep/", 30))
	for _, state := range []string{"/s", long} {
		f, err := Find(env("HOME", "/h", "XDG_STATE_HOME", state, "XDG_RUNTIME_DIR", "/run/user/1"))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(f.Socket()); got > socketMax {
			t.Fatalf("socket path has %d bytes, want at most %d", got, socketMax)
		}
	}
}

func TestLock(t *testing.T) {
	f, err := Find(env("HOME", t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if f.Alive() {
		t.Fatal("alive before anything was made")
	}
	l, err := f.Take()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Take(); !errors.Is(err, ErrHeld) {
		t.Fatalf("second take = %v, want ErrHeld", err)
	}
	if _, ok := f.Daemon(); ok {
		t.Fatal("a daemon before the run file was written")
	}
	if err := l.Write(Daemon{PID: 7, URL: "http://h"}); err != nil {
		t.Fatal(err)
	}
	if d, ok := f.Daemon(); !ok || d.PID != 7 {
		t.Fatalf("daemon = %v %v, want pid 7", d, ok)
	}
	info, err := os.Stat(f.runFile())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("run file = %v %v, want mode 0600", info, err)
	}
	l.Release()
	if f.Alive() {
		t.Fatal("alive after release")
	}
}

// A daemon that was killed leaves its files, but no lock.
func TestStaleFilesGo(t *testing.T) {
	f, err := Find(env("HOME", t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Make(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{f.runFile(), f.Socket(), f.lockFile()} {
		if err := os.WriteFile(p, []byte(`{"pid":1}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := f.Daemon(); ok {
		t.Fatal("a stale run file counts as a daemon")
	}
	l, err := f.Take()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if _, err := os.Stat(f.Socket()); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("stale socket: %v, want it gone", err)
	}
}
