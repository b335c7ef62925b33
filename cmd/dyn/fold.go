package main

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// folded breaks a line of words for a terminal of so many columns; 0 is any
// number. What does not fit stands below, so far to the right. It breaks where
// gaps of several blanks part things before it breaks between words, and a word
// that is too long alone stays whole: it may be a command.
func folded(line string, columns, right int) string {
	if columns <= 0 || cells(line) <= columns {
		return line
	}
	indent := strings.Repeat(" ", right)
	var out strings.Builder
	head := line[:len(line)-len(strings.TrimLeft(line, " "))]
	used := cells(head)
	out.WriteString(head)
	put := func(gap, text string) {
		if used > right && used+cells(gap)+cells(text) > columns {
			out.WriteString("\n" + indent)
			gap, used = "", right
		}
		out.WriteString(gap + text)
		used += cells(gap) + cells(text)
	}
	gap := ""
	for _, thing := range strings.Split(line[len(head):], "   ") {
		if cells(gap)+cells(thing) <= columns-right {
			put(gap, thing)
		} else {
			for _, word := range strings.SplitAfter(thing, " ") {
				put(gap, strings.TrimRight(word, " "))
				gap = word[len(strings.TrimRight(word, " ")):]
			}
		}
		gap = "   "
	}
	return out.String()
}

// inCells counts cells as most terminals do, and as dyn top does: it does not ask
// the locale, so a page is the same everywhere.
var inCells = &runewidth.Condition{StrictEmojiNeutral: true}

// cells is how many cells a text takes.
func cells(s string) int { return inCells.StringWidth(s) }
