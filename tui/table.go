package tui

// column is one column of a table of T.
type column[T any] struct {
	head string
	min  int // cells it needs
	max  int // cells it takes when there are any; less than min is min
	at   side
	// leave is when the column leaves for lack of width: 1 first, then 2 and
	// so on; 0 never.
	leave int
	cell  func(row T, width int) line
	// alone is the head once the column before it has left; "" is head.
	alone string
}

// col makes a column.
func col[T any](head string, least, most int, at side, leave int, cell func(row T, width int) line) column[T] {
	return column[T]{head: head, min: least, max: most, at: at, leave: leave, cell: cell}
}

// table is columns with the widths that they have.
type table[T any] struct {
	b       *brush
	columns []column[T]
	widths  []int
}

// newTable fits columns into n cells, with one cell between them and one for
// the mark in front. Columns leave until the rest has room; what room is left
// goes to the columns that want it, the first one first.
func newTable[T any](b *brush, n int, columns []column[T]) *table[T] {
	t := &table[T]{b: b, columns: append([]column[T](nil), columns...)}
	for t.need() > n && t.drop() {
	}
	spare := n - t.need()
	for _, c := range t.columns {
		w := c.min
		if grow := min(c.max-c.min, spare); grow > 0 {
			w, spare = w+grow, spare-grow
		}
		t.widths = append(t.widths, w)
	}
	return t
}

// need returns the cells that the columns need.
func (t *table[T]) need() int {
	n := len(t.columns) // one for the mark, one between each
	for _, c := range t.columns {
		n += c.min
	}
	return n
}

// drop leaves out the column that leaves first, and tells whether there was
// one.
func (t *table[T]) drop() bool {
	first := -1
	for i, c := range t.columns {
		if c.leave > 0 && (first < 0 || c.leave < t.columns[first].leave) {
			first = i
		}
	}
	if first < 0 {
		return false
	}
	t.columns = append(t.columns[:first], t.columns[first+1:]...)
	if first < len(t.columns) && t.columns[first].alone != "" {
		c := &t.columns[first]
		c.head, c.min, c.alone = c.alone, max(c.min, len(c.alone)), ""
	}
	return true
}

// heads is the row of column heads.
func (t *table[T]) heads() line {
	l := blank(1)
	for i, c := range t.columns {
		l = append(l, t.b.fit(say(c.head, muted), t.widths[i], c.at)...)
		if i < len(t.columns)-1 {
			l = append(l, span{" ", plain})
		}
	}
	return l
}

// row draws one row.
func (t *table[T]) row(v T) line { return t.until(v, len(t.columns)) }

// until draws the first n cells of a row.
func (t *table[T]) until(v T, n int) line {
	l := blank(1)
	for i, c := range t.columns[:n] {
		l = append(l, t.b.fit(c.cell(v, t.widths[i]), t.widths[i], c.at)...)
		if i < len(t.columns)-1 {
			l = append(l, span{" ", plain})
		}
	}
	return l
}

// column returns the number of the column with a head, -1 when it left.
func (t *table[T]) column(head string) int {
	for i, c := range t.columns {
		if c.head == head {
			return i
		}
	}
	return -1
}

// pick marks a row as the selected one.
func (b *brush) pick(l line) line {
	if len(l) == 0 {
		return l
	}
	return append(say(b.g.mark, accent), l[1:].all(selected)...)
}

// window returns which of n rows show in a space of room so that at is among
// them.
func window(n, room, at int) (from, to int) {
	if room <= 0 {
		return 0, 0
	}
	if n <= room {
		return 0, n
	}
	from = min(max(at-room+1, 0), n-room)
	return from, from + room
}
