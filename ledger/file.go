package ledger

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"
)

// file is an open ledger file. It belongs to the writer's goroutine.
type file struct {
	path string
	head *os.File            // see openFile
	side map[string]*os.File // what SQLite keeps beside it, by suffix; see sound
	db   *sql.DB
	conn *sql.Conn // the only one; the pragmas are set on it

	stmts map[string]*statement  // see batch
	turns int64                  // number of the last row of turns
	raws  int64                  // and of raw_turns
	begun *newest[string, int64] // rows of turns that have no outcome yet, by id
}

// busyWait is how long SQLite waits for another process's lock before the
// writer hears of it, in milliseconds.
const busyWait = "1000"

// The log is taken into the file when it has so many pages of 4 KiB, and keeps
// the bytes that they took: to cut it and let it grow anew costs more.
const (
	checkpointPages = "2000"
	logLimit        = "8388608"
)

// checkTime bounds the look for damage after opening.
const checkTime = time.Second

// openFile opens the ledger at path, makes it where there is none, and brings
// its schema up to date. It writes nothing into a database of a newer dyn or
// of another program.
//
// head is a handle of our own on the file, for sound. It is opened before
// SQLite opens the file and closed after: closing any handle of a file drops
// all of the process's POSIX locks on it, SQLite's too.
func openFile(path string) (_ *file, err error) {
	f := &file{path: path, stmts: map[string]*statement{}, begun: newNewest[string, int64](memoryOfBegun)}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if f.head, err = prepare(path); err != nil {
		return nil, err
	}
	if f.db, err = sql.Open("sqlite3", dsn(path, "rw")+"&_txlock=immediate"); err != nil {
		return nil, err
	}
	f.db.SetMaxOpenConns(1)
	ctx := context.Background()
	if f.conn, err = f.db.Conn(ctx); err != nil {
		return nil, err
	}
	version, err := known(ctx, f.conn)
	if err != nil {
		return nil, err
	}
	for _, p := range []string{
		"auto_vacuum = INCREMENTAL", // counts in an empty file only
		"journal_mode = WAL",
		"synchronous = NORMAL",
		"wal_autocheckpoint = " + checkpointPages,
		"journal_size_limit = " + logLimit,
		"secure_delete = ON", // what is forgotten is no longer in the file
	} {
		if _, err := f.conn.ExecContext(ctx, "PRAGMA "+p); err != nil {
			return nil, err
		}
	}
	if err := migrate(ctx, f.conn, version); err != nil {
		return nil, err
	}
	for table, last := range map[string]*int64{"turns": &f.turns, "raw_turns": &f.raws} {
		if err := f.conn.QueryRowContext(ctx, "SELECT coalesce(max(rowid), 0) FROM "+table).Scan(last); err != nil {
			return nil, err
		}
	}
	f.side = map[string]*os.File{}
	for _, s := range sideFiles {
		side, err := os.Open(path + s)
		if err != nil {
			return nil, err
		}
		f.side[s] = side
	}
	return f, f.sound()
}

// prepare makes folder and file for the owner only and opens the file.
func prepare(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	head, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := head.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = head.Chmod(0o600) // SQLite gives its side files the same mode
	}
	if err != nil {
		_ = head.Close()
		return nil, err
	}
	return head, nil
}

// dsn names the file to the driver, whatever characters its path has.
func dsn(path, mode string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	u := url.URL{Scheme: "file", Path: path}
	return u.String() + "?mode=" + mode + "&_busy_timeout=" + busyWait
}

// check looks for damage, for a bounded time: a file that is too large to be
// looked at in that time passes, and shows its damage later.
func (f *file) check() error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	var word string
	err := f.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&word)
	switch {
	case ctx.Err() != nil || code(err) == sqlite3.ErrInterrupt:
		return nil
	case err != nil:
		return err
	case word != "ok":
		return fmt.Errorf("%w: %s", errCorrupt, clip(word, 200))
	}
	return nil
}

// sound tells whether the open file and what lies beside it are still the
// ones that the path leads to, and whether database and log still begin as
// such. The error has errGone or errCorrupt in its chain.
func (f *file) sound() error {
	if err := same(f.head, f.path); err != nil {
		return err
	}
	for s, side := range f.side {
		if err := same(side, f.path+s); err != nil {
			return err
		}
	}
	const magic = "SQLite format 3\x00"
	var b [len(magic)]byte
	if _, e := f.head.ReadAt(b[:], 0); e != nil || string(b[:]) != magic {
		return fmt.Errorf("%w: written over", errCorrupt)
	}
	if log := f.side["-wal"]; log != nil {
		var b [4]byte // an empty log has no header yet
		n, _ := log.ReadAt(b[:], 0)
		if v := binary.BigEndian.Uint32(b[:]); n == len(b) && v&^1 != 0x377f0682 {
			return fmt.Errorf("%w: its log is written over", errCorrupt)
		}
	}
	return nil
}

// same tells whether a path still leads to an open file.
func same(open *os.File, path string) error {
	ours, err := open.Stat()
	if err != nil {
		return err
	}
	theirs, err := os.Stat(path)
	if missing(err) || err == nil && !os.SameFile(ours, theirs) {
		return fmt.Errorf("%s: %w", filepath.Base(path), errGone)
	}
	return err
}

// read looks at the newest rows as another process would: through a
// connection of its own, which finds in the file what ours has in memory. It
// reports damage only.
func (f *file) read() error {
	db, err := sql.Open("sqlite3", dsn(f.path, "ro")+"&_query_only=1")
	if err != nil {
		return err
	}
	defer db.Close()
	for _, table := range []string{"turns", "worker_events", "raw_turns"} {
		rows, err := db.Query("SELECT * FROM " + table + " ORDER BY rowid DESC LIMIT 16")
		if err == nil {
			for rows.Next() { // a page is read with every step
			}
			err = errors.Join(rows.Err(), rows.Close())
		}
		if corrupt(err) {
			return err
		}
	}
	return nil
}

// close lets go of the file.
func (f *file) close() error {
	var errs []error
	for _, s := range f.stmts {
		errs = append(errs, s.s.Close())
	}
	if f.conn != nil {
		errs = append(errs, f.conn.Close())
	}
	if f.db != nil {
		errs = append(errs, f.db.Close())
	}
	for _, side := range f.side {
		errs = append(errs, side.Close())
	}
	if f.head != nil {
		errs = append(errs, f.head.Close())
	}
	return errors.Join(errs...)
}
