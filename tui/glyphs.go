package tui

// glyphs are the signs of a frame. Each is one cell wide.
type glyphs struct {
	topLeft, topRight, bottomLeft, bottomRight string
	across, down                               string
	full, half, empty                          string // of bars
	sparks                                     []string
	mark                                       string // of the selected row
	open, folded                               string // of a session
	branch, last                               string // of an agent in its tree
	unknown                                    string
	more                                       string // what was cut
	warn, live, dot, odd                       string
	updown                                     string
}

var unicodeGlyphs = glyphs{
	topLeft: "┌", topRight: "┐", bottomLeft: "└", bottomRight: "┘",
	across: "─", down: "│",
	full: "█", half: "▒", empty: "░",
	sparks: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	mark:   "▸", open: "▾", folded: "▸",
	branch: "├", last: "└",
	unknown: "–", more: "…",
	warn: "⚠", live: "●", dot: "·", odd: "\uFFFD",
	updown: "↑↓",
}

var asciiGlyphs = glyphs{
	topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+",
	across: "-", down: "|",
	full: "#", half: "=", empty: ".",
	sparks: []string{"_", ".", ",", "-", "=", "+", "*", "#"},
	mark:   ">", open: "v", folded: ">",
	branch: "|", last: "`",
	unknown: "-", more: "~",
	warn: "!", live: "*", dot: "|", odd: "?",
	updown: "up/down",
}
