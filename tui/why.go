package tui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// Why explains the last turn of an agent, "" being any of the session, and ""
// of no session the last turn of all: lines for a screen of so many cells. It
// may block until its context ends, and is called by one goroutine at a time.
type Why = func(ctx context.Context, session, agent string, width int) (string, error)

// explained is the message that an explanation came, or why none did.
type explained struct {
	of, text string
	err      error
}

// explain asks why the selected agent's last turn went as it did: the selected
// row's of sessions, whichever panel has the focus, else that of the last turn.
func (m *model) explain() tea.Cmd {
	if m.why == nil || m.view.Explained != "" {
		return nil
	}
	session, agent, _ := strings.Cut(m.choice[Sessions], "\x00")
	if session == "" && m.view.Focus == Sessions && len(m.shot.Sessions) > 0 {
		session = m.shot.Sessions[0].ID // what nobody chose is the first row
	}
	m.view.Explained, m.view.ExplainedFrom = "…", 0
	ctx, why, cells := m.ctx, m.why, min(m.view.Width, maxWidth)-4
	of := session
	if agent != "" {
		of += "/" + agent
	}
	m.view.ExplainedOf = of
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		text, err := why(ctx, session, agent, cells)
		return explained{of, text, err}
	}
}

// tell shows an explanation, unless it was left meanwhile.
func (m *model) tell(e explained) {
	if m.view.Explained == "" || m.view.ExplainedOf != e.of {
		return
	}
	if m.view.Explained = e.text; e.err != nil || e.text == "" {
		m.view.Explained = "no explanation"
		if e.err != nil {
			m.view.Explained = e.err.Error()
		}
	}
}

// scroll moves an explanation by a key that moves, and reports whether it is one.
func (m *model) scroll(key string) {
	rows := strings.Count(m.view.Explained, "\n")
	m.view.ExplainedFrom = min(max(m.view.ExplainedFrom+steps[key], 0), rows)
}

// inASCII are the signs of an explanation for fonts without them.
var inASCII = strings.NewReplacer("▸", ">", "▹", "+", "┃", "|", "–", "-", "…", "~", "⏎", "\\n", "⇥", " ")

// explanation draws what is known of a turn.
func (p *picture) explanation(w, h int) []line {
	title := "why"
	if of := p.clean(p.v.ExplainedOf); of != "" {
		title += " " + of
	}
	var rows []line
	told := strings.TrimRight(p.v.Explained, "\n")
	if p.v.ASCII {
		told = inASCII.Replace(told)
	}
	for _, text := range strings.Split(told, "\n") {
		rows = append(rows, join(blank(1), say(p.clean(text), plain)))
	}
	from := max(min(p.v.ExplainedFrom, len(rows)-(h-2)), 0)
	x := box{title: p.middle(title, max(w-20, 8)), width: w, height: h, rows: rows[from:]}
	if below := len(rows) - from - (h - 2); below > 0 {
		x.foot = []string{plural(below, "line", "lines") + " below"}
	}
	return p.draw(x)
}
