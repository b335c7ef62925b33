package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/lipgloss"
	"github.com/mattn/go-runewidth"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// shots are all kinds of pictures.
func shots() map[string]snapshot.Snapshot {
	return map[string]snapshot.Snapshot{
		"busy": busy(), "idle": idle(), "down": down(), "wide": wide(), "hostile": hostile(), "many": many(),
		"zero": {}, "bare": {V: 1},
	}
}

// views are all kinds of views.
func views() []View {
	hidden := View{Live: true, Focus: Tiers}
	hidden.Hidden[Sessions], hidden.Hidden[Queue] = true, true
	none := View{Live: true}
	for k := range none.Hidden {
		none.Hidden[k] = true
	}
	return []View{
		{},
		{ASCII: true, Live: true, Focus: Workers, Selected: "w2"},
		{Live: true, Focus: Sessions, Selected: "gone", Paused: true},
		{Live: true, Focus: Leases, Stale: 99 * time.Hour, Retries: 1 << 30, Trouble: "dial\nrefused\x1b[2J"},
		{Live: true, Help: true},
		{Live: true, Focus: Queue, Zoom: Queue},
		{Live: true, Focus: Sessions, Zoom: Sessions},
		{Live: true, Focus: Latency, Zoom: Latency},
		hidden,
		none,
	}
}

// TestEveryLineHasTheWidth draws everything at many sizes: every line must
// have exactly the width, by two ways of counting, and be free of control
// characters.
func TestEveryLineHasTheWidth(t *testing.T) {
	count := &runewidth.Condition{StrictEmojiNeutral: true}
	heights := []int{0, 1, 15, 16, 17, 20, 24, 36, 60}
	for name, s := range shots() {
		for i, v := range views() {
			for w := 1; w < 230; w += 1 + w/20 {
				v.Width, v.Height = w, heights[w%len(heights)]
				got := Frame(s, v)
				where := fmt.Sprintf("%s, view %d, %d×%d", name, i, v.Width, v.Height)
				lines := strings.Split(got, "\n")
				if w >= smallWidth && v.Height >= smallHeight && len(lines) != v.Height {
					t.Fatalf("%s: %d lines", where, len(lines))
				}
				for _, l := range lines {
					if a, b := count.StringWidth(l), lipgloss.Width(l); a != w || b != w {
						t.Fatalf("%s: a line of %d or %d cells: %q", where, a, b, l)
					}
					for _, r := range l {
						if !unicode.IsGraphic(r) || v.ASCII && r > 0x7e {
							t.Fatalf("%s: %q in %q", where, r, l)
						}
					}
				}
			}
		}
	}
}

// TestColorAddsNothing strips the colours of a frame and compares it with the
// plain one: colour never stands alone.
func TestColorAddsNothing(t *testing.T) {
	for name, s := range shots() {
		v := View{Width: 120, Height: 36, Live: true, Focus: Workers}
		want := Frame(s, v)
		v.Color = Sixteen
		got := Frame(s, v)
		if !strings.Contains(got, "\x1b[") {
			t.Errorf("%s: no colour", name)
		}
		var b strings.Builder
		for i, piece := range strings.Split(got, "\x1b[") {
			if i > 0 {
				_, piece, _ = strings.Cut(piece, "m")
			}
			b.WriteString(piece)
		}
		if b.String() != want {
			t.Errorf("%s: the coloured frame says something else", name)
		}
	}
}

func TestColorFor(t *testing.T) {
	for _, c := range []struct {
		env      string
		terminal bool
		want     Color
	}{
		{"TERM=xterm-256color", true, Sixteen},
		{"TERM=xterm-256color", false, NoColor},
		{"NO_COLOR=1", true, NoColor},
		{"NO_COLOR=1 CLICOLOR_FORCE=1", true, NoColor},
		{"CLICOLOR_FORCE=1", false, Sixteen},
		{"CLICOLOR_FORCE=0", false, NoColor},
		{"CLICOLOR=0", true, NoColor},
		{"TERM=dumb", true, NoColor},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		if got := ColorFor(func(k string) string { return env[k] }, c.terminal); got != c.want {
			t.Errorf("%s, terminal %v: got %v, want %v", c.env, c.terminal, got, c.want)
		}
	}
}

func TestPairThatParts(t *testing.T) {
	for _, c := range []struct {
		overlap, hit, drift *float64
		want                bool
	}{
		{share(0.94), share(0.85), nil, false},
		{share(0.95), share(0.85), nil, true},
		{share(0.20), share(0.95), nil, true},
		{share(0.20), nil, nil, false},
		{nil, nil, nil, false},
		{share(0.94), share(0.20), share(0.01), false}, // of other turns
		{share(0.94), share(0.94), share(-0.10), true},
	} {
		if got := parted(c.drift, c.overlap, c.hit); got != c.want {
			t.Errorf("%v: got %v", c, got)
		}
	}
}

// TestWordsOfThePicture looks for what a frame must say, and must not.
func TestWordsOfThePicture(t *testing.T) {
	for _, c := range []struct {
		name      string
		shot      snapshot.Snapshot
		view      View
		says      []string
		saysNever []string
	}{
		{"leases and their states", busy(), View{Width: 220, Height: 60}, []string{"1 asked · 1 kept · 1 cut · 1 lost", "found 98% of 200"}, []string{"0 gave way"}},
		{"loss is shown", down(), View{}, []string{"1204 rows lost", "daemon degraded", "connection refused"}, nil},
		{"unknown is a dash", idle(), View{}, []string{"hit –"}, []string{"NaN"}},
		{"nothing runs", snapshot.Snapshot{}, View{Trouble: "no daemon"}, []string{"dyn up", "no daemon"}, []string{"workers ─"}},
		{"no keys in a pipe", busy(), View{}, nil, []string{"quit"}},
		{"a note on the file", func() snapshot.Snapshot {
			s := busy()
			s.Ledger.Why = "ledger.db was damaged: moved to x"
			return s
		}(), View{Width: 120}, []string{"ledger: ledger.db was damaged"}, []string{"rows lost"}},
		{"one line keeps the trouble", down(), View{Width: 50, Height: 10}, []string{"⚠ 1/4w", "⚠ ledger"}, []string{"\n"}},
		{"old and gone", busy(), View{Live: true, Stale: 3 * time.Minute, Retries: 7}, []string{"stale 3m00s", "retry 7"}, []string{"● 1s"}},
		{"queue by band", many(), View{}, []string{"+5 P1"}, nil},
	} {
		got := Frame(c.shot, c.view)
		for _, w := range c.says {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is missing in\n%s", c.name, w, got)
			}
		}
		for _, w := range c.saysNever {
			if strings.Contains(got, w) {
				t.Errorf("%s: %q is in\n%s", c.name, w, got)
			}
		}
	}
}

// TestHiddenRoom says that a hidden panel leaves its room to the others.
func TestHiddenRoom(t *testing.T) {
	v := View{Width: 80, Height: 24, Live: true}
	for _, k := range []Panel{Workers, Queue, Leases, Tiers, Latency} {
		v.Hidden[k] = true
	}
	got := Frame(busy(), v)
	if !strings.Contains(got, "test-run") {
		t.Errorf("the sessions do not use the room:\n%s", got)
	}
}

func BenchmarkFrame(b *testing.B) {
	s := many()
	v := View{Width: 120, Height: 36, Color: Sixteen, Live: true}
	for b.Loop() {
		Frame(s, v)
	}
}

// TestFootTellsThePath: a worker whose turns take its chat API says so, and
// why.
func TestFootTellsThePath(t *testing.T) {
	p := newPicture(snapshot.Snapshot{}, View{Width: 80, Height: 24})
	w := snapshot.Worker{Name: "w0", Path: "chat", PathWhy: "its template differs"}
	if got := strings.Join(p.workerFoot(w), " · "); !strings.Contains(got, "by its chat API: its template differs") {
		t.Errorf("foot %q", got)
	}
	w.Path, w.PathWhy = "both", "turns with images take its chat API"
	if got := strings.Join(p.workerFoot(w), " · "); strings.Contains(got, "chat API") {
		t.Errorf("foot %q", got)
	}
}
