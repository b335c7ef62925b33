package ledger

import (
	"database/sql/driver"
	"math"
	"time"

	"github.com/agentinfer/dyn/ledger/blob"
)

// Rows of turns, leases and raw turns are appended under numbers that the
// writer gives them: nothing is looked for to write one, and what is written
// together lies together.
const (
	insertTurn = `INSERT OR REPLACE INTO turns (rowid, id, at, dialect, harness, session, agent, parent, kind,
		model, stream, priority, strict_priority, class, messages, tools, max_tokens,
		worker, decision, overlap_tokens, prompt_tokens, cached_tokens, output_tokens, thinking_tokens,
		queue_ms, ttft_ms, total_ms, moved, outcome, error, tenant, format, edited, chat, break, flawed, gate_ms)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

	insertLease = `INSERT INTO leases (id, turn, at, session, agent, model, tokens, blocks, ttl_s, state,
		tenant, worker, hash, block, held_tokens, found_tokens, source, ends, why)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

	insertRaw = `INSERT INTO raw_turns (rowid, model, key, session, at, bytes, data) VALUES (?,?,?,?,?,?,?)`

	insertResponse = `INSERT OR REPLACE INTO responses VALUES (?,?,?,?,?,?,?,?,?,?)`

	deleteResponse = `DELETE FROM responses WHERE id = ? AND tenant = ?`

	insertEvent = `INSERT INTO worker_events VALUES (?,?,?,?,?,?,?)`

	insertAgent = `INSERT INTO agent_events VALUES (?,?,?,?,?,?,?,?,?)`

	upsertWorker = `INSERT INTO workers VALUES (?1,?2,?3,?4,?5,?6,?6) ON CONFLICT (name) DO UPDATE SET
		model    = CASE excluded.model WHEN '' THEN model ELSE excluded.model END,
		url      = CASE excluded.url WHEN '' THEN url ELSE excluded.url END,
		pid      = excluded.pid,
		event    = excluded.event,
		first_at = min(first_at, excluded.first_at),
		last_at  = max(last_at, excluded.last_at)`
)

// outcome is what came of one transaction.
type outcome struct {
	dropped [kinds]int64 // rows that can never be written, by kind
	why     error        // of the last of them
	placed  []placed     // raw turns that were written
}

// insert commits rows in one transaction. A row that can never be written is
// left out and counted; an error means that nothing was written.
func (f *file) insert(rows []row) (o outcome, err error) {
	err = f.conn.Raw(func(conn any) error {
		b := &batch{f: f, conn: conn.(driver.Conn), begun: map[string]int64{}}
		turns, raws := f.turns, f.raws
		if err := b.all(rows, &o); err != nil {
			f.turns, f.raws = turns, raws
			_ = b.exec("ROLLBACK") // its error is the one we come from
			return err
		}
		b.settle()
		o.placed = b.placed
		return nil
	})
	if err != nil {
		o = outcome{}
	}
	return o, err
}

// all writes rows and commits them.
func (b *batch) all(rows []row, o *outcome) error {
	if err := b.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, r := range rows {
		switch err := b.add(r); {
		case err == nil:
		case rowFault(err):
			o.dropped[r.kind()]++
			o.why = err
		default:
			return err
		}
	}
	return b.exec("COMMIT")
}

// settle keeps which turns have a row and no outcome yet.
func (b *batch) settle() {
	for _, id := range b.ended {
		delete(b.begun, id)
		b.f.ends(id)
	}
	for id, row := range b.begun {
		b.f.begins(id, row)
	}
}

// add writes one row and what follows from it.
func (b *batch) add(r row) error {
	switch r := r.(type) {
	case *Turn:
		return b.turn(r)
	case *Lease:
		return b.exec(insertLease, r.ID, r.Turn, nanos(r.At), r.Session, r.Agent, r.Model,
			r.Tokens, r.Blocks, number(r.TTLS), r.State, r.Tenant, r.Worker, int64(r.Hash), r.Block, r.Held, r.Found, r.Source, nanos(r.Ends), r.Why)
	case *AgentEvent:
		return b.exec(insertAgent, nanos(r.At), r.Session, r.Agent, r.Model, r.Event, r.Tool, number(r.MS), r.Source, r.Detail)
	case *WorkerEvent:
		at := nanos(r.At)
		if err := b.exec(insertEvent, at, r.Worker, r.Model, r.PID, r.URL, r.Event, r.Detail); err != nil {
			return err
		}
		return b.exec(upsertWorker, r.Worker, r.Model, r.PID, r.URL, r.Event, at)
	case *rawRow:
		return b.raw(r)
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

// turn writes a turn, in place of its row without an outcome.
func (b *batch) turn(t *Turn) error {
	row, ok := b.begun[t.ID]
	if !ok {
		row, ok = b.f.begun.find(t.ID)
	}
	if !ok {
		b.f.turns++
		row = b.f.turns
	}
	s, err := b.statement(insertTurn)
	if err != nil {
		return err
	}
	s.int(row)
	s.text(t.ID)
	s.int(nanos(t.At))
	for _, v := range [...]string{t.Dialect, t.Harness, t.Session, t.Agent, t.Parent, t.Kind, t.Model} {
		s.text(v)
	}
	s.flag(t.Stream)
	s.int(int64(t.Priority))
	s.int(int64(t.Strict))
	s.text(t.Class)
	s.int(int64(t.Messages))
	s.int(int64(t.Tools))
	s.int(int64(t.MaxTokens))
	s.text(t.Worker)
	s.text(t.Decision)
	for _, v := range [...]int{t.Overlap, t.Prompt, t.Cached, t.Output, t.Thinking} {
		s.int(int64(v))
	}
	s.real(number(t.QueueMS))
	s.real(number(t.TTFTMS))
	s.real(number(t.TotalMS))
	s.int(int64(t.Moved))
	for _, v := range [...]string{t.Outcome, t.Error, t.Tenant, t.Format} {
		s.text(v)
	}
	s.int(int64(t.Edited))
	s.text(t.Chat)
	s.text(t.Break)
	s.int(int64(t.Flawed))
	s.real(number(t.GateMS))
	if err := s.run(); err != nil {
		return err
	}
	if t.Outcome == "" && t.ID != "" {
		b.begun[t.ID] = row
	} else if ok {
		b.ended = append(b.ended, t.ID)
	}
	return nil
}

// raw writes a raw turn.
func (b *batch) raw(r *rawRow) error {
	b.blob = blob.Append(b.blob[:0], &r.RawTurn)
	b.f.raws++
	err := b.exec(insertRaw, b.f.raws, r.Model, int64(r.Key), r.Session, nanos(r.At), len(b.blob), b.blob)
	if err == nil {
		b.placed = append(b.placed, placed{rawKey{r.Model, r.Key}, b.f.raws})
	}
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
