package tui

import (
	"context"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
)

// Why explains the last turn of an agent, "" being any of the session, and ""
// of no session the last turn of all: lines for a screen of so many cells. It
// may block until its context ends, and may be called by several goroutines.
type Why = func(ctx context.Context, session, agent string, width int) (string, error)

// explaining is what an explanation was asked for.
type explaining struct {
	session, agent string
	cells          int
}

// String is the session and its agent, as the title has them.
func (e explaining) String() string {
	if e.agent == "" {
		return e.session
	}
	return e.session + "/" + e.agent
}

// explained is the message that an explanation came, or why none did.
type explained struct {
	of   explaining
	text string
	err  error
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
	m.asked = explaining{session, agent, m.cells()}
	m.view.ExplainedOf = m.asked.String()
	return m.fetch(m.asked)
}

// cells is how wide a line of an explanation may be.
func (m *model) cells() int { return min(m.view.Width, maxWidth) - 4 }

// again asks anew for the explanation that is shown, for another width.
func (m *model) again() tea.Cmd {
	if m.view.Explained == "" || m.asked.cells == m.cells() {
		return nil
	}
	m.asked.cells = m.cells()
	return m.fetch(m.asked)
}

// fetch asks for an explanation.
func (m *model) fetch(of explaining) tea.Cmd {
	ctx, why := m.ctx, m.why
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		text, err := why(ctx, of.session, of.agent, of.cells)
		return explained{of, text, err}
	}
}

// tell shows an explanation, unless it was left meanwhile, or the screen has
// another width.
func (m *model) tell(e explained) {
	if m.view.Explained == "" || m.asked != e.of {
		return
	}
	if m.view.Explained = e.text; e.err != nil || e.text == "" {
		m.view.Explained = "no explanation"
		if e.err != nil {
			m.view.Explained = e.err.Error()
		}
	}
}

// scroll moves an explanation by a key that moves, no further than its last line.
func (m *model) scroll(key string) {
	p := newPicture(m.shot, m.current())
	below := len(p.told()) - (p.free() - 2)
	m.view.ExplainedFrom = max(min(m.view.ExplainedFrom+steps[key], below), 0)
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
	for _, text := range p.told() {
		rows = append(rows, join(blank(1), say(p.cleaned(text), plain)))
	}
	from := max(min(p.v.ExplainedFrom, len(rows)-(h-2)), 0)
	x := box{title: p.middle(title, max(w-20, 8)), width: w, height: h, rows: rows[from:]}
	if below := len(rows) - from - (h - 2); below > 0 {
		x.foot = []string{plural(below, "line", "lines") + " below"}
	}
	return p.draw(x)
}

// told are the lines of what is known of a turn.
func (p *picture) told() []string {
	told := strings.TrimRight(p.v.Explained, "\n")
	if p.v.ASCII {
		told = inASCII.Replace(told)
	}
	return strings.Split(told, "\n")
}

// cleaned is a line of any length as it may be printed.
func (p *picture) cleaned(s string) string {
	var out strings.Builder
	for s != "" {
		n := min(len(s), maxClean)
		for n < len(s) && n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		out.WriteString(p.clean(s[:n]))
		s = s[n:]
	}
	return out.String()
}
