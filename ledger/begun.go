package ledger

import "context"

// What is kept of the turns that have a row and no outcome: some thousands,
// for which there is more than room. The row of one that was pushed out stays
// beside that of its end.
const (
	begunBytes    = 192
	memoryOfBegun = 4 << 20
)

// orphan is how the turns end that an earlier daemon had begun when it died.
const orphan = "the daemon ended before the turn did"

// bury ends the turns that an earlier daemon left without an end. Only who
// has not begun any in this file may do so.
func (f *file) bury() error {
	_, err := f.conn.ExecContext(context.Background(), "UPDATE turns SET outcome = 'fail', error = ? WHERE outcome = ''", orphan)
	return err
}

// recall finds the turns that this process has begun in the file before it
// had to open it again.
func (f *file) recall() error {
	rows, err := f.conn.QueryContext(context.Background(), "SELECT id, rowid FROM turns WHERE outcome = '' AND id <> ''")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var row int64
		if err := rows.Scan(&id, &row); err != nil {
			return err
		}
		f.begins(id, row)
	}
	return rows.Err()
}

// begins notes that a turn has a row and no outcome yet.
func (f *file) begins(id string, row int64) { f.begun.add(id, row, int64(begunBytes+len(id))) }

// ends notes that a turn has an outcome.
func (f *file) ends(id string) { f.begun.remove(id, func(int64) bool { return true }) }
