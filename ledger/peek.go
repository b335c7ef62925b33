package ledger

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// peekLimit is how long a turn waits for the file. An indexed read takes some
// ten microseconds, on a busy machine some milliseconds; what takes so much
// longer is a disk that does not answer, and costs this once.
const peekLimit = 500 * time.Millisecond

// errSlow is in the chain when the file could not be read in time.
var errSlow = errors.New("the disk does not answer")

// peek reads the file for those who serve turns, beside the writer. A read
// that does not come back keeps its goroutine; as long as one is out, others
// do not even try, so that a dead disk costs one turn one peekLimit.
type peek struct {
	path string
	out  atomic.Int32 // reads that took too long and are not back

	mu sync.Mutex // guards db
	db *sql.DB    // nil before the first read, and after the writer changed files
}

// read runs f on the file. f may still run when read has returned an error,
// so what it fills in counts only without one.
func (k *peek) read(ctx context.Context, f func(*sql.DB) error) error {
	if k.out.Load() > 0 {
		return errSlow
	}
	db, err := k.open()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- f(db) }()
	limit := time.NewTimer(peekLimit)
	defer limit.Stop()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-limit.C:
		err = errSlow
	}
	k.out.Add(1)
	go func() {
		<-done
		k.out.Add(-1)
	}()
	return err
}

// open returns the database, read only.
func (k *peek) open() (*sql.DB, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.db == nil {
		db, err := sql.Open("sqlite3", dsn(k.path, "ro")+"&_query_only=1")
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(4)
		k.db = db
	}
	return k.db, nil
}

// reset lets go of the file: the next read opens what is there then.
func (k *peek) reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if db := k.db; db != nil {
		k.db = nil
		go db.Close() // which waits for reads that are out
	}
}
