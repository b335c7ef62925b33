// Package tui draws the picture of a daemon on a terminal.
//
// The nouns: Frame makes text of a snapshot and a View, and depends on
// nothing else. A View holds what the snapshot does not: size, colours, which
// panel has the focus. A Panel is one box of the frame, each in a file of its
// own. Run is the program around it: it asks a Feed for a snapshot once per
// period and turns keys into a new View.
//
// The way of a picture: arrange.go decides which panels fit and how high they
// are; each panel makes lines of spans, a span being text with one of eight
// meanings; paint.go turns meanings into the terminal's colours. Every line
// has exactly the width of the View, counted in cells, so nothing wraps. What
// does not fit leaves in a fixed order: columns as table.go says, panels as
// arrange.go says. Below 60×16 one line of totals is left.
//
// Rules of the picture: unknown is –, never 0. Colour never stands alone: a
// word or a sign says the same. Text that came from outside, such as names of
// sessions, is cleaned in clean.go before it is measured: no control
// character, no escape sequence and no mark that changes the direction of
// writing reaches the terminal.
//
// Run never waits in its update function: snapshots are fetched by commands,
// one at a time. When the feed fails the last frame stays, dimmed, with its
// age; Run never ends by itself.
//
// Cost: a frame of 120×36 takes well under a millisecond and is drawn once
// per snapshot and key. Limits: frames of 1000×1000 cells, names of 256
// bytes, 10,000 rows per panel.
package tui
