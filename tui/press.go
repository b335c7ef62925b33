package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// typed acts on what was typed: a key, or several letters that a slow line
// brought in one piece. What is pasted is not meant for keys.
func (m *model) typed(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Paste:
		return nil
	case msg.Type != tea.KeyRunes || msg.Alt || len(msg.Runes) < 2:
		return m.press(msg.String())
	}
	var all []tea.Cmd
	for _, r := range msg.Runes {
		all = append(all, m.press(string(r)))
	}
	return tea.Batch(all...)
}

// press acts on a key.
func (m *model) press(key string) tea.Cmd {
	v := &m.view
	switch key {
	case "ctrl+c", "q":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+l":
		return tea.ClearScreen
	case "?":
		v.Help = !v.Help
		return nil
	case "esc":
		return m.back()
	}
	if v.Help || m.got.IsZero() {
		return nil
	}
	if v.Explained != "" {
		if key == "w" {
			v.Explained = ""
		} else {
			m.scroll(key)
		}
		return nil
	}
	switch key {
	case " ":
		return m.pause()
	case "+", "=":
		return m.pace(v.Period / 2)
	case "-", "_":
		return m.pace(v.Period * 2)
	case "w":
		return m.explain()
	case "z":
		if v.Zoom == NoPanel {
			v.Zoom = v.Focus
		} else {
			v.Zoom = NoPanel
		}
	case "tab":
		m.turnTo(1)
	case "shift+tab":
		m.turnTo(-1)
	case "1", "2", "3", "4", "5", "6":
		m.toggle(Panel(key[0] - '0'))
	default:
		m.move(key)
	}
	return nil
}

// back goes one step back, and quits where there is none.
func (m *model) back() tea.Cmd {
	switch {
	case m.view.Help:
		m.view.Help = false
	case m.view.Explained != "":
		m.view.Explained = ""
	case m.view.Zoom != NoPanel:
		m.view.Zoom = NoPanel
	default:
		return tea.Quit
	}
	return nil
}

// pause stops the picture or lets it go on, at once.
func (m *model) pause() tea.Cmd {
	m.view.Paused = !m.view.Paused
	if m.view.Paused {
		return nil
	}
	return m.ask()
}

// pace sets the period and begins to count anew.
func (m *model) pace(d time.Duration) tea.Cmd {
	d = min(max(d, fastest), slowest)
	if d == m.view.Period {
		return nil
	}
	m.view.Period = d
	return m.sleep()
}

// turnTo gives the focus to the next panel that shows, by steps of step.
func (m *model) turnTo(step int) {
	v := &m.view
	x := m.plan()
	for k, n := v.Focus, 0; n < int(panels); n++ {
		k += Panel(step)
		if k >= panels {
			k = Workers
		}
		if k < Workers {
			k = panels - 1
		}
		if v.Zoom != NoPanel {
			v.Focus, v.Zoom = k, k
			return
		}
		if x.shows(k) {
			v.Focus = k
			return
		}
	}
}

// toggle shows or hides a panel. One that has no room is shown alone, and so
// is any while one is shown alone.
func (m *model) toggle(k Panel) {
	v := &m.view
	if v.Zoom != NoPanel {
		if v.Zoom == k {
			v.Zoom = NoPanel
		} else {
			v.Zoom, v.Focus = k, k
		}
		return
	}
	x := m.plan()
	switch {
	case v.Hidden[k]:
		v.Hidden[k] = false
		v.Focus = k
	case !x.shows(k):
		v.Zoom, v.Focus = k, k
	default:
		v.Hidden[k] = true
		if v.Focus == k {
			m.turnTo(1)
		}
	}
}

// plan is the arrangement that is on the screen.
func (m *model) plan() plan {
	p := newPicture(m.shot, m.current())
	return p.arrange(p.v.Width, p.bodyHeight())
}

// steps are the rows that a key moves by.
var steps = map[string]int{
	"down": 1, "j": 1, "up": -1, "k": -1,
	"pgdown": 10, "pgup": -10,
	"G": maxRows, "end": maxRows, "g": -maxRows, "home": -maxRows,
}

// move selects another row of the focused panel.
func (m *model) move(key string) {
	step, ok := steps[key]
	if !ok {
		return
	}
	p := newPicture(m.shot, m.current())
	keys := p.keys(m.view.Focus)
	if len(keys) == 0 {
		return
	}
	at := min(max(p.at(m.view.Focus)+step, 0), len(keys)-1)
	m.choice[m.view.Focus] = keys[at]
}
