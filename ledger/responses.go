package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// How much of stored responses is held in memory too, so that chains hold
// until the daemon ends when the file cannot be written; and how much of the
// names of dropped ones.
const (
	memoryOfResponses = 64 << 20
	memoryOfDropped   = 1 << 20
)

// Responses keeps what clients asked to store. It is safe for concurrent use.
type Responses struct {
	l    *Ledger
	new  *newest[string, *storedRow]  // at least those that are not in the file yet
	gone *newest[[2]string, struct{}] // tenant and id of the dropped that may be in it yet
}

// storedRow is a response on its way to the file, or the word that it is to
// go from there.
type storedRow struct {
	turn.Stored
	gone bool
}

func (r *storedRow) size() int64 {
	return int64(512 + len(r.ID) + len(r.Previous) + len(r.Input) + len(r.Document))
}

func newResponses(l *Ledger) *Responses {
	return &Responses{l, newNewest[string, *storedRow](memoryOfResponses), newNewest[[2]string, struct{}](memoryOfDropped)}
}

func (*storedRow) kind() kind { return responses }

// Responses is the ledger's store of responses.
func (l *Ledger) Responses() *Responses { return l.responses }

// Keep keeps a response until it expires, in place of one with the same id.
// It never blocks; where the file takes none, it is counted as lost and kept
// in memory as long as there is room. Its documents may not be written any
// more.
func (s *Responses) Keep(r turn.Stored) {
	row := &storedRow{Stored: r}
	for _, t := range []*string{&row.ID, &row.Tenant, &row.Session, &row.Previous, &row.Model} {
		*t = clip(*t, maxName)
	}
	s.gone.remove([2]string{row.Tenant, row.ID}, func(struct{}) bool { return true })
	s.new.add(row.ID, row, row.size())
	s.l.put(row)
}

// Drop forgets a response of a tenant. It never blocks.
func (s *Responses) Drop(tenant, id string) {
	row := &storedRow{Stored: turn.Stored{ID: clip(id, maxName), Tenant: clip(tenant, maxName)}, gone: true}
	s.new.remove(row.ID, func(r *storedRow) bool { return r.Tenant == row.Tenant })
	s.gone.add([2]string{row.Tenant, row.ID}, struct{}{}, row.size())
	s.l.put(row)
}

// Stored returns a response. It is false for one that nobody kept, or that
// has expired; the error says that the file could not be read, so that nobody
// knows. What it returns must not be written.
func (s *Responses) Stored(ctx context.Context, id string) (turn.Stored, bool, error) {
	id = clip(id, maxName)
	now := time.Now()
	if row, ok := s.new.find(id); ok {
		if !row.Expires.After(now) {
			return turn.Stored{}, false, nil
		}
		return row.Stored, true, nil
	}
	var r turn.Stored
	err := s.l.peek.read(ctx, func(db *sql.DB) (err error) {
		r, err = readStored(db, id, now)
		return err
	})
	_, gone := s.gone.find([2]string{r.Tenant, id})
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && gone, unbegun(s.l.path, err):
		return turn.Stored{}, false, nil
	case err != nil:
		return turn.Stored{}, false, fmt.Errorf("read stored response: %w", err)
	}
	return r, true, nil
}

// readStored reads one response of the file; sql.ErrNoRows when there is none
// that lives.
func readStored(db *sql.DB, id string, now time.Time) (turn.Stored, error) {
	r := turn.Stored{ID: id}
	var at, expires int64
	err := db.QueryRow(`SELECT tenant, session, previous, model, at, expires, input, document FROM responses
		WHERE id = ? AND expires > ?`, id, nanos(now)).
		Scan(&r.Tenant, &r.Session, &r.Previous, &r.Model, &at, &expires, &r.Input, &r.Document)
	r.At, r.Expires = instant(at), instant(expires)
	return r, err
}
