package ledger

// queue holds the rows that the writer has not taken yet, in their order.
// Ledger.mu guards it.
type queue struct {
	rows []row
	open map[string]*Turn // those of rows that have no outcome, by id
	busy int              // rows that the writer has taken and not settled
}

func newQueue() queue { return queue{open: map[string]*Turn{}} }

// renew puts a turn in place of its row without an outcome, if that is still
// here: most turns are over before it would have been written. It returns by
// how much the queue's bytes have changed.
func (q *queue) renew(t *Turn) (grown int64, ok bool) {
	was := q.open[t.ID]
	if was == nil {
		return 0, false
	}
	grown = t.size() - was.size()
	*was = *t
	if t.Outcome != "" {
		delete(q.open, t.ID)
	}
	return grown, true
}

// add puts a row at the end.
func (q *queue) add(r row) {
	q.rows = append(q.rows, r)
	switch r := r.(type) {
	case *Turn:
		if r.Outcome == "" && r.ID != "" {
			q.open[r.ID] = r
		}
	case *forgetRow:
		clear(q.open) // what comes after it is not to stand before it
	}
}

// take empties the queue into a slice of the caller's.
func (q *queue) take(into []row) []row {
	into = append(into, q.rows...)
	clear(q.rows)
	q.rows = q.rows[:0]
	clear(q.open)
	q.busy = len(into)
	return into
}

// len is how many rows are not settled yet.
func (q *queue) len() int { return len(q.rows) + q.busy }
