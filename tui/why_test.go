package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// TestWhy: w explains the selected session's last turn, keys that move move in
// it, and esc goes back to what was there.
func TestWhy(t *testing.T) {
	asked, fails := "", error(nil)
	m := newModel(context.Background(), nil, Options{Period: time.Second, Why: func(_ context.Context, session, agent string, width int) (string, error) {
		asked = session + "," + agent
		return strings.Repeat("a line\n", 30), fails
	}})
	m.Update(answer{shot: busy()})
	show := func() string {
		cmd := m.press("w")
		if cmd == nil {
			t.Fatal("w does nothing")
		}
		m.Update(cmd())
		return m.View()
	}
	if got := show(); asked != "," || !strings.Contains(got, "a line") {
		t.Errorf("nothing was chosen: asked for %q\n%s", asked, got)
	}
	m.keys("j", "j")
	if m.view.ExplainedFrom != 2 || m.choice[Workers] != "" {
		t.Errorf("moved to %d, and %q is chosen", m.view.ExplainedFrom, m.choice[Workers])
	}
	m.keys("G", "esc")
	if m.view.Explained != "" || strings.Contains(m.View(), "a line") {
		t.Error("esc does not go back")
	}
	m.view.Focus = Sessions
	if show(); asked != busy().Sessions[0].ID+"," {
		t.Errorf("the first row: %q", asked)
	}
	m.keys("w")
	m.choice[Sessions] = "77c0\x00explore-1"
	if show(); asked != "77c0,explore-1" {
		t.Errorf("an agent: %q", asked)
	}
	m.keys("w")
	fails = errors.New("nothing is recorded yet")
	if got := show(); !strings.Contains(got, "nothing is recorded yet") {
		t.Errorf("an error:\n%s", got)
	}
	m.keys("esc")
	late := m.press("w")
	m.keys("esc")
	if m.Update(late()); m.view.Explained != "" {
		t.Error("what was left comes back")
	}
	if m.why = nil; m.press("w") != nil {
		t.Error("there is nobody to explain")
	}
}

// TestWhyResized: another width is another explanation, at the same line; one
// that comes late, for the width before, is not shown. Scrolling ends at the
// last line, so that the way back is as long.
func TestWhyResized(t *testing.T) {
	m := newModel(context.Background(), nil, Options{Period: time.Second, Why: func(_ context.Context, _, _ string, width int) (string, error) {
		return strings.Repeat(fmt.Sprintf("a line for %d cells %s\n", width, strings.Repeat("漢", width)), 30), nil
	}})
	m.Update(answer{shot: busy()})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(m.press("w")())
	m.keys("j", "j")
	_, narrow := m.Update(tea.WindowSizeMsg{Width: 70, Height: 24})
	_, wide := m.Update(tea.WindowSizeMsg{Width: 200, Height: 30})
	m.Update(wide())
	m.Update(narrow())
	if got := m.View(); !strings.Contains(got, "a line for 196 cells") || m.view.ExplainedFrom != 2 || strings.Count(got, "漢") < 28*80 {
		t.Errorf("from line %d:\n%s", m.view.ExplainedFrom, got)
	}
	if _, same := m.Update(tea.WindowSizeMsg{Width: 200, Height: 26}); same != nil {
		t.Error("the same width is asked for again")
	}
	m.keys("G", "G", "j", "j", "j")
	last := m.View()
	if m.keys("k"); m.View() == last || strings.Contains(last, "below") {
		t.Errorf("the last line, and the one before:\n%s", m.View())
	}
	m.keys("esc")
	if _, cmd := m.Update(tea.WindowSizeMsg{Width: 80, Height: 24}); cmd != nil {
		t.Error("nothing is explained, and it is asked for")
	}
}
