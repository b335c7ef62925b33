package main

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// maxLog is how long the daemon's log may become. A longer one is put aside
// under one other name, so that there are two of this length at most.
const maxLog = 16 << 20

// openLog opens a log file to add to; one that is long is put aside first.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() >= maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("put log aside: %w", err)
		}
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return log, nil
}

// rolling is a detached daemon's log. Standard output and error follow it to
// the new file, because the runtime writes a crash there.
type rolling struct {
	path string

	mu   sync.Mutex // guards left
	left int64      // bytes until the next look at the file's length
}

// Write adds to the log. A log that cannot be put aside goes on as it is.
func (r *rolling) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left -= int64(len(p)); r.left < 0 {
		r.left = maxLog / 16
		if next, err := openLog(r.path); err == nil {
			for _, std := range []*os.File{os.Stdout, os.Stderr} {
				_ = unix.Dup3(int(next.Fd()), int(std.Fd()), 0) // on failure the old file goes on
			}
			next.Close()
		}
	}
	return os.Stderr.Write(p)
}
