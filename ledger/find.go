package ledger

import (
	"context"
	"strings"
)

// Named returns the turn whose id begins with a text, with or without the "t"
// that ids begin with: the newest where there are several. ok is false where
// there is none. There is no index of ids: one that is not found costs a look
// at every turn.
func (r *Reader) Named(ctx context.Context, id string) (t Turn, ok bool, err error) {
	id = "t" + strings.TrimPrefix(id, "t")
	return r.first(ctx, "substr(id, 1, ?) = ?", len(id), id)
}

// Latest returns the newest turn of a session, or of all where it is "".
func (r *Reader) Latest(ctx context.Context, session string) (t Turn, ok bool, err error) {
	if session == "" {
		return r.first(ctx, "1")
	}
	return r.first(ctx, "session = ?", session)
}

// Before returns the turn of the same agent that came before another one.
func (r *Reader) Before(ctx context.Context, t Turn) (before Turn, ok bool, err error) {
	return r.first(ctx, "at < ? AND session = ? AND agent = ? AND model = ?", nanos(t.At), t.Session, t.Agent, t.Model)
}

// Broken returns the newest turns of a session, or of all where it is "", whose
// prompts parted from the ones before, the newest first.
func (r *Reader) Broken(ctx context.Context, session string, limit int) ([]Turn, error) {
	return read(ctx, r.db, "turns", `SELECT rowid AS n, * FROM turns WHERE break <> '' AND break <> '?' AND (?1 = '' OR session = ?1)
		ORDER BY at DESC, n DESC LIMIT ?2`, []any{session, Query{Limit: limit}.limit()}, oneTurn)
}

// first returns the newest turn for which a condition holds.
func (r *Reader) first(ctx context.Context, cond string, args ...any) (t Turn, ok bool, err error) {
	found, err := read(ctx, r.db, "turns", "SELECT rowid AS n, * FROM turns WHERE "+cond+" ORDER BY at DESC, n DESC LIMIT 1", args, oneTurn)
	if err != nil || len(found) == 0 {
		return t, false, err
	}
	return found[0], true, nil
}
