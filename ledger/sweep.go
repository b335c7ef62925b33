package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// cutRows is how many rows of a table one statement deletes, and cutRounds
// how often in one sweep, so that new rows need not wait for it.
const (
	cutRows   = 2000
	cutRounds = 5
)

// vacuumPages is how many free pages one sweep gives back.
const vacuumPages = 2000

// sweep cuts rows that are too old, then the oldest while the file is too
// large, and gives free pages back. more says that it was not done in its
// bounded time and should be called again soon.
func (f *file) sweep(o Options, now time.Time) (more bool, err error) {
	if o.MaxAge > 0 {
		cutoff := now.Add(-o.MaxAge).UnixNano()
		if more, err = f.before(cutoff); more || err != nil {
			return more, err
		}
	}
	if err := f.expire(o, now); err != nil {
		return false, err
	}
	if o.MaxBytes > 0 {
		if more, err = f.shrink(o.MaxBytes); more || err != nil {
			return more, err
		}
	}
	return f.vacuum()
}

// before deletes what happened before cutoff, up to a bounded number of rows.
func (f *file) before(cutoff int64) (more bool, err error) {
	for _, t := range []struct{ table, key, at string }{
		{"turns", "rowid", "at"},
		{"leases", "rowid", "at"},
		{"agent_events", "rowid", "at"},
		{"worker_events", "rowid", "at"},
		{"workers", "name", "last_at"},
	} {
		query := "DELETE FROM " + t.table + " WHERE " + t.key + " IN (SELECT " + t.key +
			" FROM " + t.table + " WHERE " + t.at + " < ? ORDER BY " + t.at + " LIMIT ?)"
		n := int64(cutRows)
		for round := 0; n == cutRows; round++ {
			if round == cutRounds {
				return true, nil
			}
			r, err := f.conn.ExecContext(context.Background(), query, cutoff, cutRows)
			if err != nil {
				return false, err
			}
			if n, err = r.RowsAffected(); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// shrink deletes the oldest rows while the file holds more than limit, until
// it holds nine tenths of it.
func (f *file) shrink(limit int64) (more bool, err error) {
	live, err := f.live()
	if err != nil || live <= limit {
		return false, err
	}
	for range cutRounds {
		if live, err = f.live(); err != nil || live <= limit/10*9 {
			return false, err
		}
		cutoff, err := f.oldest(cutRows)
		if err != nil || cutoff < 0 {
			return false, err
		}
		if _, err := f.before(cutoff + 1); err != nil {
			return false, err
		}
	}
	return true, nil
}

// live returns the bytes of the pages in use.
func (f *file) live() (int64, error) {
	var pages, free, size int64
	for _, v := range []struct {
		pragma string
		to     *int64
	}{{"page_count", &pages}, {"freelist_count", &free}, {"page_size", &size}} {
		if err := f.conn.QueryRowContext(context.Background(), "PRAGMA "+v.pragma).Scan(v.to); err != nil {
			return 0, err
		}
	}
	return (pages - free) * size, nil
}

// oldest returns the time up to which about n rows lie, and all of them when
// there are fewer; 0 when there are none.
func (f *file) oldest(n int) (int64, error) {
	var at int64
	err := f.conn.QueryRowContext(context.Background(), `SELECT coalesce(max(at), -1) FROM (
		SELECT at FROM turns UNION ALL SELECT at FROM leases UNION ALL SELECT at FROM agent_events UNION ALL SELECT at FROM worker_events
		ORDER BY at LIMIT ?)`, n).Scan(&at)
	return at, err
}

// vacuum gives free pages back to the disk, a bounded number at a time.
func (f *file) vacuum() (more bool, err error) {
	ctx := context.Background()
	var before, after int
	const left = "PRAGMA freelist_count"
	if err := f.conn.QueryRowContext(ctx, left).Scan(&before); err != nil || before == 0 {
		return false, err
	}
	rows, err := f.conn.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumPages))
	if err != nil {
		return false, err
	}
	for rows.Next() { // a page goes with every step
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return false, err
	}
	err = f.conn.QueryRowContext(ctx, left).Scan(&after)
	return 0 < after && after < before, err
}

// maxRaws is how many raw turns are kept at most: each takes the daemon 16
// bytes of memory.
const maxRaws = 1 << 20

// expire deletes content whose time is over, and the oldest of each kind
// while there is more of it than its share.
func (f *file) expire(o Options, now time.Time) error {
	oldest := int64(math.MaxInt64)
	if o.RawAge > 0 {
		oldest = nanos(now.Add(-o.RawAge))
	}
	ctx := context.Background()
	if _, err := f.conn.ExecContext(ctx, "DELETE FROM raw_turns WHERE at < ?", oldest); err != nil {
		return err
	}
	if _, err := f.conn.ExecContext(ctx, "DELETE FROM responses WHERE expires <= ?", nanos(now)); err != nil {
		return err
	}
	if _, err := f.conn.ExecContext(ctx, "DELETE FROM raw_turns WHERE rowid <= ?", f.raws-maxRaws); err != nil {
		return err
	}
	for _, table := range []string{"raw_turns", "responses"} {
		if err := f.trim(table, o.content()); err != nil {
			return err
		}
	}
	return nil
}

// trim keeps the newest rows of a table of content: nine tenths of limit,
// where there is more than limit.
func (f *file) trim(table string, limit int64) error {
	ctx := context.Background()
	var sum int64
	err := f.conn.QueryRowContext(ctx, "SELECT coalesce(sum(bytes), 0) FROM "+table).Scan(&sum)
	if err != nil || sum <= limit {
		return err
	}
	_, err = f.conn.ExecContext(ctx, "DELETE FROM "+table+` WHERE rowid IN (SELECT n FROM (
		SELECT rowid AS n, sum(bytes) OVER (ORDER BY at DESC, rowid DESC ROWS UNBOUNDED PRECEDING) AS upto FROM `+table+`
		) WHERE upto > ?)`, limit/10*9)
	return err
}
