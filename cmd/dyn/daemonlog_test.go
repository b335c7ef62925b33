package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOpenLogPutsALongOneAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.log")
	for _, c := range []struct {
		size  int64
		aside bool
	}{{maxLog - 1, false}, {maxLog, true}} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, c.size); err != nil {
			t.Fatal(err)
		}
		log, err := openLog(path)
		if err != nil {
			t.Fatal(err)
		}
		log.Close()
		_, err = os.Stat(path + ".1")
		if aside := err == nil; aside != c.aside {
			t.Errorf("%d bytes: put aside %v, want %v", c.size, aside, c.aside)
		}
	}
}
