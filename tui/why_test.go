package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
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
