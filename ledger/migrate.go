package ledger

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// applicationID marks a SQLite file as a ledger: "dynl".
const applicationID = 0x64796e6c

// schema returns the migrations in their order; the first brings an empty
// file to version 1.
func schema() []string {
	names, err := fs.Glob(schemaFiles, "schema/*.sql") // sorted
	if err != nil {
		panic(err) // the pattern is a constant
	}
	steps := make([]string, len(names))
	for i, n := range names {
		b, err := schemaFiles.ReadFile(n)
		if err != nil {
			panic(err) // embedded
		}
		steps[i] = string(b)
	}
	return steps
}

// querier is what a connection and a handle have in common.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// known returns the schema version of a ledger, 0 for an empty file. It only
// reads. The error has ErrNewer or ErrForeign in its chain when the file is
// not ours to write.
func known(ctx context.Context, q querier) (int, error) {
	var app, version, tables int
	for _, v := range []struct {
		sql string
		to  *int
	}{
		{"PRAGMA application_id", &app},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_master", &tables},
	} {
		if err := q.QueryRowContext(ctx, v.sql).Scan(v.to); err != nil {
			return 0, err
		}
	}
	newest := len(schema())
	switch {
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	case app != applicationID:
		return 0, ErrForeign
	case version > newest:
		return 0, fmt.Errorf("%w: schema %d, this one knows %d", ErrNewer, version, newest)
	}
	return version, nil
}

// migrate applies the migrations after version, each in a transaction.
func migrate(ctx context.Context, c *sql.Conn, version int) error {
	for i, step := range schema() {
		if i < version {
			continue
		}
		if err := apply(ctx, c, step, i+1); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", i+1, err)
		}
	}
	return nil
}

// apply runs one migration and sets the version with it.
func apply(ctx context.Context, c *sql.Conn, step string, version int) error {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	marks := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, version)
	if _, err := tx.ExecContext(ctx, step+";\n"+marks); err != nil {
		return err
	}
	return tx.Commit()
}
