package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
)

// What cannot be written is told with a command that shows why, of a folder
// that is there.
func TestUnwritten(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		err  error
		path string
		code code
		try  string
	}{
		{syscall.ENOSPC, filepath.Join(dir, "run", "daemon.json"), wontFit, "df -h " + dir},
		{syscall.EROFS, filepath.Join(dir, "daemon.log"), failed, "ls -ld " + dir},
		{syscall.EACCES, filepath.Join(dir, "daemon.log"), failed, "ls -ld " + dir},
		{syscall.ENOSPC, "/dev/stdout", failed, ""},
	} {
		f := understand("up", fmt.Errorf("write run file: %w", &fs.PathError{Op: "write", Path: c.path, Err: c.err}))
		if f.code != c.code || f.Try != c.try {
			t.Errorf("%v at %s: code %d, try %q; want %d, %q", c.err, c.path, f.code, f.Try, c.code, c.try)
		}
	}
}
