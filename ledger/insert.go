package ledger

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/agentinfer/dyn/ledger/blob"
)

const (
	insertTurn = `INSERT OR REPLACE INTO turns VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

	upsertSession = `INSERT INTO sessions VALUES (?1,?2,?3,?4,?4) ON CONFLICT (id) DO UPDATE SET
		harness  = CASE excluded.harness WHEN '' THEN harness ELSE excluded.harness END,
		model    = CASE excluded.model WHEN '' THEN model ELSE excluded.model END,
		first_at = min(first_at, excluded.first_at),
		last_at  = max(last_at, excluded.last_at)`

	upsertAgent = `INSERT INTO agents VALUES (?1,?2,?3,?4,?4) ON CONFLICT (session, id) DO UPDATE SET
		parent   = CASE excluded.parent WHEN '' THEN parent ELSE excluded.parent END,
		first_at = min(first_at, excluded.first_at),
		last_at  = max(last_at, excluded.last_at)`

	insertLease = `INSERT OR REPLACE INTO leases VALUES (?,?,?,?,?,?,?,?,?,?)`

	insertRaw = `INSERT OR REPLACE INTO raw_turns VALUES (?,?,?,?,?,?)`

	insertResponse = `INSERT OR REPLACE INTO responses VALUES (?,?,?,?,?,?,?,?,?,?)`

	deleteResponse = `DELETE FROM responses WHERE id = ? AND tenant = ?`

	insertEvent = `INSERT INTO worker_events VALUES (?,?,?,?,?,?,?)`

	upsertWorker = `INSERT INTO workers VALUES (?1,?2,?3,?4,?5,?6,?6) ON CONFLICT (name) DO UPDATE SET
		model    = CASE excluded.model WHEN '' THEN model ELSE excluded.model END,
		url      = CASE excluded.url WHEN '' THEN url ELSE excluded.url END,
		pid      = excluded.pid,
		event    = excluded.event,
		first_at = min(first_at, excluded.first_at),
		last_at  = max(last_at, excluded.last_at)`
)

// batch is one transaction with its prepared statements.
type batch struct {
	ctx   context.Context
	tx    *sql.Tx
	stmts map[string]*sql.Stmt
	blob  []byte // of the raw turn that is written
}

// insert commits rows in one transaction. A row that can never be written is
// left out and counted in dropped by its kind, with the last one's reason; any
// other error means that nothing was written.
func (f *file) insert(rows []row) (dropped [kinds]int64, why, err error) {
	ctx := context.Background()
	tx, err := f.conn.BeginTx(ctx, nil)
	if err != nil {
		return dropped, nil, err
	}
	defer func() { _ = tx.Rollback() }()
	b := &batch{ctx: ctx, tx: tx, stmts: map[string]*sql.Stmt{}}
	last := map[string]int{} // of a turn's rows in one batch only the last counts
	for i, r := range rows {
		if t, ok := r.(*Turn); ok {
			last[t.ID] = i
		}
	}
	for i, r := range rows {
		if t, ok := r.(*Turn); ok && last[t.ID] != i {
			continue
		}
		switch err := b.add(r); {
		case err == nil:
		case rowFault(err):
			dropped[r.kind()]++
			why = err
		default:
			return [kinds]int64{}, nil, err
		}
	}
	return dropped, why, tx.Commit()
}

// add writes one row and what follows from it.
func (b *batch) add(r row) error {
	switch r := r.(type) {
	case *Turn:
		return b.turn(r)
	case *Lease:
		return b.exec(insertLease, r.ID, r.Turn, nanos(r.At), r.Session, r.Agent, r.Model,
			r.Tokens, r.Blocks, number(r.TTLS), r.State)
	case *WorkerEvent:
		at := nanos(r.At)
		if err := b.exec(insertEvent, at, r.Worker, r.Model, r.PID, r.URL, r.Event, r.Detail); err != nil {
			return err
		}
		return b.exec(upsertWorker, r.Worker, r.Model, r.PID, r.URL, r.Event, at)
	case *rawRow:
		b.blob = blob.Append(b.blob[:0], &r.RawTurn)
		return b.exec(insertRaw, r.Model, int64(r.Key), r.Session, nanos(r.At), len(b.blob), b.blob)
	case *storedRow:
		if r.gone {
			return b.exec(deleteResponse, r.ID, r.Tenant)
		}
		return b.exec(insertResponse, r.ID, r.Tenant, r.Session, r.Previous, r.Model, nanos(r.At), nanos(r.Expires),
			len(r.Input)+len(r.Document), filled(r.Input), filled(r.Document))
	case *forgetRow:
		return b.forget(r)
	}
	return nil
}

// turn writes a turn, its session and its agent.
func (b *batch) turn(t *Turn) error {
	at := nanos(t.At)
	if err := b.exec(insertTurn, t.ID, at, t.Dialect, t.Harness, t.Session, t.Agent, t.Parent, t.Kind,
		t.Model, t.Stream, t.Priority, t.Strict, t.Class, t.Messages, t.Tools, t.MaxTokens,
		t.Worker, t.Decision, t.Overlap, t.Prompt, t.Cached, t.Output, t.Thinking,
		number(t.QueueMS), number(t.TTFTMS), number(t.TotalMS), t.Moved, t.Outcome, t.Error,
		t.Tenant, t.Format, t.Edited); err != nil {
		return err
	}
	if t.Session == "" {
		return nil
	}
	if err := b.exec(upsertSession, t.Session, t.Harness, t.Model, at); err != nil {
		return err
	}
	return b.exec(upsertAgent, t.Session, t.Agent, t.Parent, at)
}

// exec runs a statement, prepared once per transaction.
func (b *batch) exec(query string, args ...any) error {
	s := b.stmts[query]
	if s == nil {
		var err error
		if s, err = b.tx.PrepareContext(b.ctx, query); err != nil {
			return err
		}
		b.stmts[query] = s // closed with the transaction
	}
	_, err := s.ExecContext(b.ctx, args...)
	return err
}

// filled is b as it is stored; nothing is an empty blob, not NULL.
func filled(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// nanos is t as it is stored; the zero time is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// instant is the time that nanos stored.
func instant(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// number is f as it may be stored: what is no number is -1, unknown.
func number(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return -1
	}
	return f
}
