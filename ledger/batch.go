package ledger

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// batch is one transaction of the writer. It talks to the driver itself: a
// statement is prepared once for the life of a file, and all its values cross
// over to SQLite in one call. Only f.conn.Raw may make one.
type batch struct {
	f    *file
	conn driver.Conn

	begun  map[string]int64 // rows of turns without an outcome, by id
	ended  []string         // turns that have one now
	placed []placed         // raw turns
	blob   []byte           // of the raw turn that is written
}

// placed is where a raw turn went.
type placed struct {
	key rawKey
	row int64
}

// statement is a prepared statement with the values of its last run; a value
// that comes again is not made anew.
type statement struct {
	s    driver.Stmt
	args []driver.NamedValue
	n    int // set so far
}

// statement returns the prepared form of a query, with no value set.
func (b *batch) statement(query string) (*statement, error) {
	if s := b.f.stmts[query]; s != nil {
		s.n = 0
		return s, nil
	}
	prepared, err := b.conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	s := &statement{s: prepared, args: make([]driver.NamedValue, prepared.NumInput())}
	for i := range s.args {
		s.args[i].Ordinal = i + 1
	}
	b.f.stmts[query] = s
	return s, nil
}

func (s *statement) text(v string) {
	a := &s.args[s.n]
	if was, ok := a.Value.(string); !ok || was != v {
		a.Value = v
	}
	s.n++
}

func (s *statement) int(v int64) {
	a := &s.args[s.n]
	if was, ok := a.Value.(int64); !ok || was != v {
		a.Value = v
	}
	s.n++
}

func (s *statement) real(v float64) {
	s.args[s.n].Value = v
	s.n++
}

func (s *statement) flag(v bool) {
	s.args[s.n].Value = v
	s.n++
}

func (s *statement) bytes(v []byte) {
	s.args[s.n].Value = v
	s.n++
}

// run executes the statement with the values that were set.
func (s *statement) run() error {
	if s.n != len(s.args) {
		return fmt.Errorf("a statement wants %d values and has %d", len(s.args), s.n)
	}
	// As a query, since the driver binds all values of one at once.
	rows, err := s.s.(driver.StmtQueryContext).QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	return rows.Close()
}

// exec runs a query with values of the kinds that rows have.
func (b *batch) exec(query string, values ...any) error {
	s, err := b.statement(query)
	if err != nil {
		return err
	}
	for _, v := range values {
		switch v := v.(type) {
		case string:
			s.text(v)
		case int64:
			s.int(v)
		case int:
			s.int(int64(v))
		case float64:
			s.real(v)
		case []byte:
			s.bytes(v)
		default:
			return fmt.Errorf("no column holds a %T", v)
		}
	}
	return s.run()
}

// delete runs a query of one value and returns how many rows went.
func (b *batch) delete(query, value string) (int64, error) {
	result, err := b.conn.(driver.ExecerContext).ExecContext(context.Background(), query, []driver.NamedValue{{Ordinal: 1, Value: value}})
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// count runs a query of one value that returns a number.
func (b *batch) count(query, value string) (int64, error) {
	rows, err := b.conn.(driver.QueryerContext).QueryContext(context.Background(), query, []driver.NamedValue{{Ordinal: 1, Value: value}})
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var n [1]driver.Value
	if err := rows.Next(n[:]); err != nil {
		return 0, err
	}
	is, _ := n[0].(int64)
	return is, nil
}
