package ledger

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// Faults of a ledger file that a Reader meets at opening.
var (
	// ErrNone is in the chain when there is no ledger file yet.
	ErrNone = errors.New("no ledger yet")

	// ErrNewer is in the chain when a newer dyn wrote the file.
	ErrNewer = errors.New("written by a newer dyn")

	// ErrOlder is in the chain when the file waits for its migration, which
	// the next dyn up does.
	ErrOlder = errors.New("written by an older dyn")

	// ErrForeign is in the chain when the file is a database of something
	// else.
	ErrForeign = errors.New("not a ledger of dyn")
)

// errCorrupt is in the chain when the file is not a sound database.
var errCorrupt = errors.New("database is damaged")

// errGone is in the chain when the open file is no longer what the path
// leads to.
var errGone = errors.New("deleted")

// code returns SQLite's primary result code, 0 for other errors.
func code(err error) sqlite3.ErrNo {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// corrupt reports whether err says that the file is not a sound database.
func corrupt(err error) bool {
	c := code(err)
	return errors.Is(err, errCorrupt) || c == sqlite3.ErrCorrupt || c == sqlite3.ErrNotADB
}

// rowFault reports whether err lies in the row that was written, so that the
// same row would meet it for ever.
func rowFault(err error) bool {
	switch code(err) {
	case sqlite3.ErrConstraint, sqlite3.ErrTooBig, sqlite3.ErrMismatch, sqlite3.ErrRange, sqlite3.ErrError:
		return true
	}
	return false
}

// missing reports whether err says that a file is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// unbegun reports whether err, of a read of the file at path, says that there
// is no file yet, or none of our tables in it: nothing was ever kept there.
func unbegun(path string, err error) bool {
	if code(err) == sqlite3.ErrError && strings.Contains(err.Error(), "no such table") {
		return true
	}
	_, e := os.Stat(path)
	return code(err) == sqlite3.ErrCantOpen && missing(e)
}

// busy reports whether another connection's lock was in the way; the open
// file is as good as before.
func busy(err error) bool {
	c := code(err)
	return c == sqlite3.ErrBusy || c == sqlite3.ErrLocked
}
