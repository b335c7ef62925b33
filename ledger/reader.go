package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"
)

// Reader reads a ledger file, also while a daemon writes it, and writes
// nothing. It is safe for concurrent use.
type Reader struct {
	db *sql.DB
}

// Query says which rows to read. The zero value reads all there are, up to
// MaxRows.
type Query struct {
	Since   time.Time // at or after; zero is the beginning
	Session string    // of this session only; "" is all
	Limit   int       // the newest ones; 0 is MaxRows, which is also the most
}

// MaxRows is the most rows that one query returns.
const MaxRows = 100_000

// OpenReader opens the ledger at path. The error has ErrNone, ErrOlder,
// ErrNewer or ErrForeign in its chain when there is nothing that this program
// can read. The caller closes the reader.
func OpenReader(path string) (*Reader, error) {
	if _, err := os.Stat(path); missing(err) {
		return nil, fmt.Errorf("read %s: %w", path, ErrNone)
	}
	db, err := sql.Open("sqlite3", dsn(path, "ro")+"&_query_only=1")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	db.SetMaxOpenConns(2)
	version, err := known(context.Background(), db)
	switch {
	case err != nil:
	case version == 0: // the daemon has only just made the file
		err = ErrNone
	case version < len(schema()):
		err = ErrOlder
	}
	if err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &Reader{db: db}, nil
}

// Close lets go of the file.
func (r *Reader) Close() error { return r.db.Close() }

// where returns the condition of q on table columns and its arguments.
func (q Query) where(at string) (string, []any) {
	cond, args := at+" >= ?", []any{nanos(q.Since)}
	if q.Session != "" {
		cond, args = cond+" AND session = ?", append(args, q.Session)
	}
	return cond, args
}

// limit returns the number of rows that q wants.
func (q Query) limit() int {
	if q.Limit <= 0 || q.Limit > MaxRows {
		return MaxRows
	}
	return q.Limit
}

// Turns returns turns in the order of their arrival, the newest ones where
// there are more than the limit.
func (r *Reader) Turns(ctx context.Context, q Query) ([]Turn, error) {
	cond, args := q.where("at")
	return read(ctx, r.db, "turns", `SELECT * FROM (SELECT rowid AS n, * FROM turns WHERE `+cond+`
		ORDER BY at DESC, n DESC LIMIT ?) ORDER BY at, n`, append(args, q.limit()), oneTurn)
}

// oneTurn reads a row of turns with its number before it.
func oneTurn(scan func(...any) error) (t Turn, err error) {
	var n, at int64
	err = scan(&n, &t.ID, &at, &t.Dialect, &t.Harness, &t.Session, &t.Agent, &t.Parent, &t.Kind,
		&t.Model, &t.Stream, &t.Priority, &t.Strict, &t.Class, &t.Messages, &t.Tools, &t.MaxTokens,
		&t.Worker, &t.Decision, &t.Overlap, &t.Prompt, &t.Cached, &t.Output, &t.Thinking,
		&t.QueueMS, &t.TTFTMS, &t.TotalMS, &t.Moved, &t.Outcome, &t.Error,
		&t.Tenant, &t.Format, &t.Edited, &t.Chat, &t.Break, &t.Flawed, &t.GateMS)
	t.At = instant(at)
	return t, err
}

// Leases returns what became of leases in its order, the newest rows where
// there are more than the limit.
func (r *Reader) Leases(ctx context.Context, q Query) ([]Lease, error) {
	cond, args := q.where("at")
	return read(ctx, r.db, "leases", `SELECT * FROM (SELECT rowid AS n, * FROM leases WHERE `+cond+`
		ORDER BY at DESC, n DESC LIMIT ?) ORDER BY at, n`, append(args, q.limit()), oneLease)
}

// LastLeases returns the last row of each lease of an agent at a worker that
// has one since, in their order. Of more than so many agents' it returns the
// newest.
func (r *Reader) LastLeases(ctx context.Context, since time.Time, most int) ([]Lease, error) {
	return read(ctx, r.db, "last leases", `SELECT * FROM (SELECT rowid AS n, * FROM leases WHERE rowid IN (
		SELECT max(rowid) FROM leases WHERE at >= ? GROUP BY id, worker, session, agent)
		ORDER BY n DESC LIMIT ?) ORDER BY n`, []any{nanos(since), most}, oneLease)
}

// oneLease reads a row of leases with its number before it.
func oneLease(scan func(...any) error) (x Lease, err error) {
	var n, at, hash, ends int64
	err = scan(&n, &x.ID, &x.Turn, &at, &x.Session, &x.Agent, &x.Model, &x.Tokens, &x.Blocks, &x.TTLS, &x.State,
		&x.Tenant, &x.Worker, &hash, &x.Block, &x.Held, &x.Found, &x.Source, &ends, &x.Why)
	x.At, x.Hash, x.Ends = instant(at), uint64(hash), instant(ends)
	return x, err
}

// AgentEvents returns the steps of agents' lives in their order, the newest
// ones where there are more than the limit.
func (r *Reader) AgentEvents(ctx context.Context, q Query) ([]AgentEvent, error) {
	cond, args := q.where("at")
	return read(ctx, r.db, "agent events", `SELECT * FROM (SELECT rowid AS n, * FROM agent_events WHERE `+cond+`
		ORDER BY at DESC, n DESC LIMIT ?) ORDER BY at, n`, append(args, q.limit()),
		func(scan func(...any) error) (e AgentEvent, err error) {
			var n, at int64
			err = scan(&n, &at, &e.Session, &e.Agent, &e.Model, &e.Event, &e.Tool, &e.MS, &e.Source, &e.Detail)
			e.At = instant(at)
			return e, err
		})
}

// WorkerEvents returns the steps of workers' lives in their order, the newest
// ones where there are more than the limit. They belong to no session:
// Query.Session must be "".
func (r *Reader) WorkerEvents(ctx context.Context, q Query) ([]WorkerEvent, error) {
	if q.Session != "" {
		return nil, fmt.Errorf("read worker events: a session has none")
	}
	cond, args := q.where("at")
	return read(ctx, r.db, "worker events", `SELECT * FROM (SELECT rowid AS n, * FROM worker_events WHERE `+cond+`
		ORDER BY at DESC, n DESC LIMIT ?) ORDER BY at, n`, append(args, q.limit()),
		func(scan func(...any) error) (e WorkerEvent, err error) {
			var n, at int64
			err = scan(&n, &at, &e.Worker, &e.Model, &e.PID, &e.URL, &e.Event, &e.Detail)
			e.At = instant(at)
			return e, err
		})
}

// read runs a query and makes a value of every row. The result is never nil
// without an error, so that it is [] in JSON.
func read[T any](ctx context.Context, db *sql.DB, what, query string, args []any,
	one func(scan func(...any) error) (T, error),
) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		v, err := one(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", what, err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return all, nil
}
