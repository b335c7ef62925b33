package ledger

import (
	"context"
	"errors"
	"fmt"
)

// Forgotten says what was removed of a session, in rows.
type Forgotten struct {
	Turns     int64 `json:"turns"`
	Agents    int64 `json:"agents"`
	Leases    int64 `json:"leases"`
	Events    int64 `json:"agent_events"`
	RawTurns  int64 `json:"raw_turns"`
	Responses int64 `json:"responses"`
}

// Any reports whether anything was removed.
func (f Forgotten) Any() bool { return f != Forgotten{} }

// forgetRow is the word that a session is to go, with all rows before it.
type forgetRow struct {
	session string
	found   Forgotten     // good when done is closed
	done    chan struct{} // closed when it is committed
}

func (*forgetRow) size() int64 { return 512 }
func (*forgetRow) kind() kind  { return books }

// Forget removes a session whole: its turns, agents, leases and events, its raw turns
// and stored responses, from memory and from the file, and returns when that
// is on disk. Where ctx ends before, the error says what keeps the file from
// being written; it is removed as soon as that can be. Rows that come later
// with the same session are kept again.
func (l *Ledger) Forget(ctx context.Context, session string) (Forgotten, error) {
	session = clip(session, maxName)
	if session == "" {
		return Forgotten{}, errors.New("forget session: it has no name")
	}
	if l.raw != nil {
		l.raw.new.clear(func(r *rawRow) bool { return r.Session == session })
	}
	l.responses.new.clear(func(r *storedRow) bool { return r.Session == session })
	r := &forgetRow{session: session, done: make(chan struct{})}
	if !l.put(r) {
		return Forgotten{}, fmt.Errorf("forget session %s: %s", session, l.Health().Why)
	}
	select {
	case <-r.done:
		return r.found, nil
	case <-ctx.Done():
	case <-l.done:
	}
	select {
	case <-r.done:
		return r.found, nil
	default:
	}
	why := l.Health().Why
	if why == "" {
		why = context.Cause(ctx).Error()
	}
	return Forgotten{}, fmt.Errorf("forget session %s: %s", session, why)
}

// forget removes what there is of a session. Only responses have an index of
// sessions; the rest is looked through, which takes about a second for half a
// gigabyte.
func (b *batch) forget(r *forgetRow) (err error) {
	r.found.Agents, err = b.count("SELECT count(DISTINCT agent) FROM turns WHERE session = ?", r.session)
	if err != nil {
		return err
	}
	for _, t := range []struct {
		query string
		n     *int64
	}{
		{"DELETE FROM turns WHERE session = ?", &r.found.Turns},
		{"DELETE FROM leases WHERE session = ?", &r.found.Leases},
		{"DELETE FROM agent_events WHERE session = ?", &r.found.Events},
		{"DELETE FROM raw_turns WHERE session = ?", &r.found.RawTurns},
		{"DELETE FROM responses WHERE session = ?", &r.found.Responses},
	} {
		if *t.n, err = b.delete(t.query, r.session); err != nil {
			return err
		}
	}
	return nil
}

// truncate takes what was committed into the database and empties its log,
// where removed content would still stand. Readers that are at it keep it
// from doing so; then the log is written over in its time.
func (f *file) truncate() {
	rows, err := f.conn.QueryContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
	if err == nil {
		_ = rows.Close()
	}
}
