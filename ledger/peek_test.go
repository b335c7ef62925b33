package ledger

import (
	"context"
	"database/sql"
	"errors"
	"testing"
)

// TestPeekGivesUp reads from a disk that does not answer: the first reader
// waits its limit, the others do not wait at all, until the disk is back.
func TestPeekGivesUp(t *testing.T) {
	_, path := begin(t, quick)
	until(t, "the file", func() bool { return turns(path) == 0 })
	k := &peek{path: path}
	defer k.reset()
	stuck := make(chan struct{})
	hang := func(*sql.DB) error { <-stuck; return nil }
	if err := k.read(t.Context(), hang); !errors.Is(err, errSlow) {
		t.Fatalf("error is %v", err)
	}
	if err := k.read(t.Context(), func(*sql.DB) error { t.Error("it was asked"); return nil }); !errors.Is(err, errSlow) {
		t.Errorf("while one is out: %v", err)
	}
	close(stuck)
	until(t, "the disk", func() bool { return k.read(t.Context(), func(*sql.DB) error { return nil }) == nil })

	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the client left")
	cancel(left)
	free := make(chan struct{})
	defer close(free)
	if err := k.read(ctx, func(*sql.DB) error { <-free; return nil }); !errors.Is(err, left) {
		t.Errorf("canceled: %v", err)
	}
}

// A file that is begun anew is the one that is read.
func TestPeekFollowsTheFile(t *testing.T) {
	t.Parallel()
	l, path := begin(t, quick)
	l.Raw().Keep(rawOf(1))
	inFile(t, path, "raw_turns", 1)
	afresh(l)
	found(t, l, rawOf(1).Key)
	outside(t, `rm -f "$F" "$F-wal" "$F-shm"`, path)
	until(t, "the file to be begun anew", func() bool { return l.Health().Why != "" })
	if _, ok := l.Raw().Find("sim", rawOf(1).Key); ok {
		t.Error("it was found in a file that is gone")
	}
	l.Raw().Keep(rawOf(2))
	inFile(t, path, "raw_turns", 1)
	afresh(l)
	found(t, l, rawOf(2).Key) // in the new file
}
