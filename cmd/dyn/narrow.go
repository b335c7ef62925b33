package main

import (
	"io"
	"slices"
)

// shortest is how short a word of a table may get on a narrow terminal.
const shortest = 12

// narrowed is the table for w. On a terminal that is too narrow for it columns
// leave in the given order, and then words are shortened in the middle; numbers
// never are. Elsewhere it is the whole table.
func (t *table) narrowed(w io.Writer, order ...int) *table {
	columns, tty := terminal(w)
	if !tty {
		return t
	}
	for t.wide() > columns && len(order) > 0 {
		t = t.without(order[0])
		for i := range order[1:] {
			if order[i+1] > order[0] {
				order[i+1]--
			}
		}
		order = order[1:]
	}
	for over := t.wide() - columns; over > 0; over = t.wide() - columns {
		i, width := t.longest()
		if width <= shortest {
			break // it wraps
		}
		for _, row := range t.all() {
			row[i] = middle(row[i], max(shortest, width-over))
		}
	}
	return t
}

// all are the rows, the head among them.
func (t *table) all() [][]string {
	if t.head == nil {
		return t.rows
	}
	return append([][]string{t.head}, t.rows...)
}

// widths are those of the columns.
func (t *table) widths() []int {
	var widths []int
	for _, row := range t.all() {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cells(c))
		}
	}
	return widths
}

// wide is how many cells a row takes.
func (t *table) wide() int {
	sum := 0
	for _, n := range t.widths() {
		sum += n + 2
	}
	return max(0, sum-2)
}

// longest is the widest column of words.
func (t *table) longest() (at, width int) {
	for i, n := range t.widths() {
		if n > width && !slices.Contains(t.right, i) {
			at, width = i, n
		}
	}
	return at, width
}

// without is the table without a column.
func (t *table) without(column int) *table {
	cut := func(row []string) []string { return slices.Delete(slices.Clone(row), column, column+1) }
	less := &table{}
	if t.head != nil {
		less.head = cut(t.head)
	}
	for _, row := range t.rows {
		less.add(cut(row)...)
	}
	for _, i := range t.right {
		switch {
		case i < column:
			less.right = append(less.right, i)
		case i > column:
			less.right = append(less.right, i-1)
		}
	}
	return less
}

// middle shortens a word to so many cells, in its middle.
func middle(word string, most int) string {
	if cells(word) <= most {
		return word
	}
	head := inCells.Truncate(word, (most-1)/2, "")
	return head + inCells.TruncateLeft(word, cells(word)-(most-1-cells(head)), "…")
}
