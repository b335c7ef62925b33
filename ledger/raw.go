package ledger

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/agentinfer/dyn/ledger/blob"
	"github.com/agentinfer/dyn/turn"
)

// Raw keeps the model's own raw turns, so that a daemon that was started anew
// builds the prompts that the one before it would have built. It is safe for
// concurrent use; a nil Raw keeps nothing.
type Raw struct {
	l   *Ledger
	age time.Duration
	new *newest[rawKey, *rawRow] // those that are not in the file yet

	known knownKeys
}

func newRaw(l *Ledger) *Raw {
	return &Raw{l: l, age: l.opt.RawAge, new: newNewest[rawKey, *rawRow](l.opt.Bytes), known: newKnownKeys()}
}

// rawKey names a raw turn.
type rawKey struct {
	model string
	key   uint64
}

// rawRow is a raw turn on its way to the file.
type rawRow struct{ turn.RawTurn }

func (r *rawRow) size() int64 {
	return int64(256 + len(r.Model) + len(r.Session) + 4*(len(r.Opening)+len(r.IDs)) + len(r.Thinking))
}

func (*rawRow) kind() kind { return rawTurns }

// Raw is the ledger's store of raw turns, nil when Options.RawAge is negative.
func (l *Ledger) Raw() *Raw { return l.raw }

// Keep keeps a raw turn, in place of the one with the same model and key; one
// without a time is of now. It never blocks; where the file takes none the
// turn is counted as lost, and held in memory as long as there is room. Its
// slices may not be written any more.
func (s *Raw) Keep(r turn.RawTurn) {
	if s == nil {
		return
	}
	row := &rawRow{r}
	if r.At.IsZero() {
		row.At = time.Now()
	}
	row.Model, row.Session = clip(r.Model, maxName), clip(r.Session, maxName)
	s.new.add(rawKey{row.Model, row.Key}, row, row.size())
	s.l.put(row)
}

// written takes note of rows that are in the file now. Those that wait for
// nothing else leave memory.
func (s *Raw) written(rows []row, at []placed) {
	if s == nil {
		return
	}
	s.known.add(at)
	for _, r := range rows {
		if r, ok := r.(*rawRow); ok {
			s.new.remove(rawKey{r.Model, r.Key}, func(is *rawRow) bool { return is == r })
		}
	}
}

// Find returns the raw turn of a model's history, unless there is none, it is
// too old, or the disk does not tell in time. What it returns must not be
// written. A key that is in memory, or nowhere, costs a look-up, any other a
// read of one row, at most peekLimit; so does the first one of all, until the
// file has told what it holds.
func (s *Raw) Find(model string, key uint64) (turn.RawTurn, bool) {
	if s == nil {
		return turn.RawTurn{}, false
	}
	oldest := time.Now().Add(-s.age)
	at := rawKey{clip(model, maxName), key}
	if row, ok := s.new.find(at); ok {
		return row.RawTurn, !row.At.Before(oldest)
	}
	if !s.known.wait(peekLimit) {
		return turn.RawTurn{}, false
	}
	n, ok := s.known.find(at)
	if !ok {
		return turn.RawTurn{}, false
	}
	var r turn.RawTurn
	err := s.l.peek.read(context.Background(), func(db *sql.DB) (err error) {
		r, err = readRaw(db, at, n, oldest)
		return err
	})
	if errors.Is(err, blob.ErrDamaged) {
		s.l.lost(rawTurns, 1, err.Error())
	}
	if err != nil {
		return turn.RawTurn{}, false
	}
	return r, true
}

// readRaw reads the raw turn in a row of the file; sql.ErrNoRows when it is
// not there any more, or too old.
func readRaw(db *sql.DB, k rawKey, row int64, oldest time.Time) (turn.RawTurn, error) {
	r := turn.RawTurn{Model: k.model, Key: k.key}
	var at int64
	var data []byte
	err := db.QueryRow("SELECT session, at, data FROM raw_turns WHERE rowid = ? AND model = ? AND key = ? AND at >= ?",
		row, k.model, int64(k.key), nanos(oldest)).Scan(&r.Session, &at, &data)
	if err != nil {
		return r, err
	}
	r.At = instant(at)
	return r, blob.Read(data, &r)
}
