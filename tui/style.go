package tui

import (
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	_ "github.com/agentinfer/dyn/tui/background" // before Bubble Tea asks the terminal
)

// meaning is why a piece of text looks as it does.
type meaning uint8

// The eight meanings. plain is the zero value.
const (
	plain meaning = iota
	good
	warn
	bad
	info
	muted
	accent
	selected
	meanings // how many there are
)

// sequence is what stands before and after a text on the terminal.
type sequence struct{ on, off string }

// sequences returns the terminal's sequences for each meaning. Colours are
// the sixteen of the terminal's own theme.
var sequences = sync.OnceValue(func() (all [meanings]sequence) {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.ANSI)
	r.SetHasDarkBackground(true)
	style := func(color string) lipgloss.Style {
		return r.NewStyle().Foreground(lipgloss.Color(color))
	}
	for m, s := range map[meaning]lipgloss.Style{
		good:     style("2"),
		warn:     style("3"),
		bad:      style("1").Bold(true),
		info:     style("6"),
		muted:    r.NewStyle().Faint(true),
		accent:   style("4").Bold(true),
		selected: r.NewStyle().Reverse(true),
	} {
		all[m].on, all[m].off, _ = strings.Cut(s.Render("x"), "x")
	}
	return all
})

// ColorFor decides on colours by the usual environment: NO_COLOR and
// TERM=dumb forbid them, CLICOLOR_FORCE wants them in a pipe too, CLICOLOR=0
// does not want them. terminal says whether the output is one.
func ColorFor(getenv func(string) string, terminal bool) Color {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case getenv("NO_COLOR") != "":
		return NoColor
	case force != "" && force != "0":
		return Sixteen
	case !terminal, getenv("TERM") == "dumb", getenv("CLICOLOR") == "0":
		return NoColor
	}
	return Sixteen
}

// paint joins lines to a text for the terminal. dim draws all of it muted.
func paint(lines []line, c Color, dim meaning) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range l {
			m := s.m
			if dim != plain && m != bad {
				m = dim
			}
			if c == NoColor || m == plain {
				b.WriteString(s.s)
				continue
			}
			q := sequences()[m]
			b.WriteString(q.on)
			b.WriteString(s.s)
			b.WriteString(q.off)
		}
	}
	return b.String()
}
