package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// seen is a model that has a picture of s on an 80×24 screen.
func seen(s snapshot.Snapshot) *model {
	m := newModel(context.Background(), nil, Options{Period: time.Second})
	m.Update(answer{shot: s})
	return m
}

// keys presses keys one after the other.
func (m *model) keys(keys ...string) {
	for _, k := range keys {
		m.press(k)
	}
}

func quits(cmd tea.Cmd) bool {
	return cmd != nil && reflect.ValueOf(cmd).Pointer() == reflect.ValueOf(tea.Quit).Pointer()
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name  string
		keys  string
		check func(m *model) string // what is wrong, "" when nothing is
	}{
		{"down", "j j", func(m *model) string { return want(m.choice[Workers], "w2") }},
		{"down too far", "j j j j j j k", func(m *model) string { return want(m.choice[Workers], "w2") }},
		{"arrows", "down down up", func(m *model) string { return want(m.choice[Workers], "w1") }},
		{"last and first", "G", func(m *model) string { return want(m.choice[Workers], "w3") }},
		{"first", "G g", func(m *model) string { return want(m.choice[Workers], "w0") }},
		{"next panel", "tab", func(m *model) string { return want(m.view.Focus, Queue) }},
		{"panel before", "shift+tab", func(m *model) string { return want(m.view.Focus, Latency) }},
		{"around", "tab tab tab tab tab tab", func(m *model) string { return want(m.view.Focus, Workers) }},
		{"hide", "3", func(m *model) string { return want(m.view.Hidden[Leases], true) }},
		{"hide and show", "3 3", func(m *model) string { return want(m.view.Hidden[Leases], false) }},
		{"hide the focused", "1", func(m *model) string { return want(m.view.Focus, Queue) }},
		{"hidden is passed over", "2 tab", func(m *model) string { return want(m.view.Focus, Leases) }},
		{"zoom", "tab z", func(m *model) string { return want(m.view.Zoom, Queue) }},
		{"zoom and back", "z z", func(m *model) string { return want(m.view.Zoom, NoPanel) }},
		{"zoom moves on", "z tab", func(m *model) string { return want(m.view.Zoom, Queue) }},
		{"zoom to a number", "z 5", func(m *model) string { return want(m.view.Zoom, Sessions) }},
		{"help", "?", func(m *model) string { return want(m.view.Help, true) }},
		{"help takes keys", "? 1 z tab", func(m *model) string { return want(m.view.Hidden[Workers], false) }},
		{"pause", "space", func(m *model) string { return want(m.view.Paused, true) }},
		{"faster", "+ + +", func(m *model) string { return want(m.view.Period, fastest) }},
		{"slower", "- - - - - -", func(m *model) string { return want(m.view.Period, slowest) }},
		{"unknown keys", "x w P d ctrl+k f13 7 0", func(m *model) string { return want(m.view.Focus, Workers) }},
	} {
		m := seen(busy())
		for _, k := range strings.Split(c.keys, " ") {
			if k == "space" {
				k = " "
			}
			if quits(m.press(k)) {
				t.Errorf("%s: %q quits", c.name, k)
			}
		}
		if wrong := c.check(m); wrong != "" {
			t.Errorf("%s: %s", c.name, wrong)
		}
		if got := strings.Count(m.View(), "\n"); got != 23 {
			t.Errorf("%s: %d line breaks", c.name, got)
		}
	}
}

func want(got, want any) string {
	if got != want {
		return fmt.Sprintf("got %v, want %v", got, want)
	}
	return ""
}

// TestSuspend puts the picture aside and takes it up with new numbers.
func TestSuspend(t *testing.T) {
	m := seen(busy())
	_, cmd := m.Update(tea.KeyMsg{Type: tea.KeyCtrlZ})
	if cmd == nil {
		t.Fatal("ctrl-z does nothing")
	}
	if _, ok := cmd().(tea.SuspendMsg); !ok {
		t.Error("ctrl-z does not suspend")
	}
	if _, cmd = m.Update(tea.ResumeMsg{}); cmd == nil || !m.asking {
		t.Error("nothing is asked after fg")
	}
}

// TestTyped has letters that come in one piece, and a paste.
func TestTyped(t *testing.T) {
	m := seen(busy())
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjz")})
	if m.choice[Workers] != "w2" || m.view.Zoom != Workers {
		t.Errorf("after jjz in one piece: row %q, zoom %v", m.choice[Workers], m.view.Zoom)
	}
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("gz3"), Paste: true})
	if m.choice[Workers] != "w2" || m.view.Zoom != Workers || m.view.Hidden[Leases] {
		t.Error("a paste pressed keys")
	}
	_, cmd := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("kq")})
	if !quits(cmd) {
		t.Error("kq in one piece does not quit")
	}
}

func TestQuit(t *testing.T) {
	for _, keys := range []string{"q", "esc", "ctrl+c", "? q", "? esc esc", "z esc esc", "? z esc esc", "  q"} {
		m := seen(busy())
		all := strings.Fields(keys)
		for i, k := range all {
			if got, want := quits(m.press(k)), i == len(all)-1; got != want {
				t.Errorf("%s: key %d quits: %v", keys, i, got)
			}
		}
	}
}

// TestSelectionFollowsTheThing lets rows come and go.
func TestSelectionFollowsTheThing(t *testing.T) {
	m := seen(busy())
	m.keys("j", "j")
	s := busy()
	s.Workers = append([]snapshot.Worker{serving("new", 1, 0, 0, 0, 0, 1, 1, 1)}, s.Workers...)
	m.Update(answer{shot: s})
	if !strings.Contains(m.View(), "▸w2") {
		t.Errorf("the selection left w2:\n%s", m.View())
	}
	s.Workers = s.Workers[:2]
	m.Update(answer{shot: s})
	if !strings.Contains(m.View(), "▸new") {
		t.Errorf("a selection that is gone is not the first row:\n%s", m.View())
	}
	m.keys("j")
	if m.choice[Workers] != "w0" {
		t.Errorf("moved to %q", m.choice[Workers])
	}
}

// TestPanelWithoutRoom shows it alone.
func TestPanelWithoutRoom(t *testing.T) {
	m := seen(busy())
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 16})
	m.keys("4")
	if m.view.Zoom != Tiers || !strings.Contains(m.View(), "4 tiers") {
		t.Errorf("zoom is %v:\n%s", m.view.Zoom, m.View())
	}
	m.keys("4")
	if m.view.Zoom != NoPanel {
		t.Errorf("zoom is %v", m.view.Zoom)
	}
}

// TestFeedFails keeps the last picture, with its age.
func TestFeedFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t.Context(), nil, Options{Period: time.Second})
		if v := m.View(); !strings.Contains(v, "asking the daemon") {
			t.Errorf("the first frame:\n%s", v)
		}
		m.Update(answer{err: errors.New("no daemon runs")})
		if v := m.View(); !strings.Contains(v, "dyn up") || !strings.Contains(v, "no daemon runs") {
			t.Errorf("without a daemon:\n%s", v)
		}
		m.Update(answer{shot: busy()})
		if v := m.View(); !strings.Contains(v, "● 1s") || strings.Contains(v, "stale 0") {
			t.Errorf("with a daemon:\n%s", v)
		}
		time.Sleep(12 * time.Second)
		for range 11 {
			m.Update(answer{err: errors.New("connection refused")})
		}
		v := m.View()
		for _, w := range []string{"stale 12s", "retry 11", "connection refused", "explore-1"} {
			if !strings.Contains(v, w) {
				t.Errorf("%q is missing:\n%s", w, v)
			}
		}
		m.view.Color = Sixteen
		if v := m.View(); strings.Contains(v, sequences()[good].on) {
			t.Errorf("an old picture is not dimmed:\n%q", v)
		}
		m.Update(answer{shot: busy()})
		if v := m.View(); strings.Contains(v, "stale") {
			t.Errorf("after the daemon came back:\n%s", v)
		}
		time.Sleep(time.Minute) // a feed that hangs
		if v := m.View(); !strings.Contains(v, "stale 1m00s") {
			t.Errorf("with a feed that hangs:\n%s", v)
		}
	})
}

// TestPauseStops keeps picture and clock.
func TestPauseStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t.Context(), nil, Options{Period: time.Second})
		m.Update(answer{shot: idle()})
		m.keys(" ")
		was := m.View()
		if !strings.Contains(was, "paused") || !strings.Contains(was, "go on") {
			t.Errorf("paused:\n%s", was)
		}
		time.Sleep(time.Hour)
		m.Update(answer{shot: busy()})
		if m.View() != was {
			t.Error("the picture went on")
		}
		m.keys(" ")
		m.Update(answer{shot: busy()})
		if !strings.Contains(m.View(), "a1f3") {
			t.Error("the picture did not go on")
		}
	})
}

// TestOneQuestionAtATime counts calls of a feed that does not answer.
func TestOneQuestionAtATime(t *testing.T) {
	m := newModel(t.Context(), nil, Options{Period: time.Second})
	if m.ask() == nil {
		t.Fatal("nothing is asked")
	}
	if m.ask() != nil {
		t.Error("a second question")
	}
	n := m.wake
	if _, cmd := m.Update(tick{n + 7}); cmd != nil {
		t.Error("an old tick counts")
	}
	m.Update(answer{err: errors.New("x")})
	if m.ask() == nil {
		t.Error("nothing is asked after an answer")
	}
}

// screen collects what a program draws.
type screen struct {
	mu    sync.Mutex
	b     bytes.Buffer
	first chan struct{}
	once  sync.Once
	word  string
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.b.Write(p)
	if bytes.Contains(s.b.Bytes(), []byte(s.word)) {
		s.once.Do(func() { close(s.first) })
	}
	return n, err
}

// TestFirstFrame wants a frame at once, though the feed never answers, and an
// end at once though the feed ignores its context.
func TestFirstFrame(t *testing.T) {
	out := &screen{first: make(chan struct{}), word: "asking the daemon"}
	in, keys := io.Pipe()
	hang := make(chan struct{})
	defer close(hang)
	feed := func(context.Context) (snapshot.Snapshot, error) {
		<-hang
		return snapshot.Snapshot{}, nil
	}
	done := make(chan error, 1)
	start := time.Now()
	go func() { done <- Run(t.Context(), feed, Options{Input: in, Output: out}) }()
	<-out.first
	t.Logf("first frame after %v, while the feed hangs", time.Since(start))
	if _, err := keys.Write([]byte("q")); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("run: %v", err)
	}
}

// TestRunEndsWithItsContext is no error.
func TestRunEndsWithItsContext(t *testing.T) {
	out := &screen{first: make(chan struct{}), word: "a1f3"}
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	done := make(chan error, 1)
	feed := func(context.Context) (snapshot.Snapshot, error) { return busy(), nil }
	go func() { done <- Run(ctx, feed, Options{Input: in, Output: out}) }()
	<-out.first
	cancel()
	if err := <-done; err != nil {
		t.Errorf("run: %v", err)
	}
}
