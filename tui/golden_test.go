package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// screenSize is the size of a window in cells.
type screenSize struct{ w, h int }

var sizes = []screenSize{{80, 24}, {120, 36}, {200, 60}, {60, 16}}

// checkGolden compares a picture with its golden file.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./tui -update writes it)", err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s differs, want:\n%sgot:\n%s", path, want, got)
	}
}

func TestGolden(t *testing.T) {
	live := View{Live: true, Period: time.Second, Focus: Sessions, Selected: "77c0"}
	cases := []struct {
		name string
		shot snapshot.Snapshot
		view View
	}{
		{"busy", busy(), live},
		{"hostile", hostile(), live},
		{"idle", idle(), live},
		{"down", down(), live},
		{"wide", wide(), live},
		{"many", many(), View{Live: true, Focus: Workers, Selected: "worker-in-rack-17"}},
		{"ascii", down(), View{ASCII: true}},
		{"start", snapshot.Snapshot{}, View{Live: true, Trouble: "no daemon answers", Retries: 2}},
		{"stale", busy(), View{Live: true, Stale: 12 * time.Second, Retries: 11, Trouble: "connection refused", Now: noon.Add(12 * time.Second)}},
		{"help", busy(), View{Live: true, Help: true}},
	}
	for _, c := range cases {
		for _, z := range sizes {
			if z != sizes[0] && c.name != "busy" && c.name != "many" && c.name != "ascii" {
				continue
			}
			v := c.view
			v.Width, v.Height = z.w, z.h
			name := fmt.Sprintf("%s-%dx%d", c.name, z.w, z.h)
			t.Run(name, func(t *testing.T) { checkGolden(t, name, Frame(c.shot, v)) })
		}
	}
	t.Run("why", func(t *testing.T) {
		checkGolden(t, "why-80x24", Frame(busy(), View{
			Width: 80, Height: 24, Live: true, Explains: true, ExplainedOf: "77c0/main", ExplainedFrom: 1,
			Explained: "turn t8f21   77c0/main   119k tokens   sent to w3   TTFT 5.8s\nat 12:00\n\n   WORKER  OVERLAP  TOTAL\n▸  w3         0.0%   5.4s  chosen: a tie, by lot\n\nprefix broke at block 1 of 1857: clock\n  was   It is 12:0┃0\x1b[31m\n" + strings.Repeat("more\n", 20),
		}))
	})
	t.Run("once", func(t *testing.T) { checkGolden(t, "once-100", Frame(busy(), View{Width: 100})) })
	t.Run("zoom", func(t *testing.T) {
		checkGolden(t, "zoom-80x24", Frame(many(), View{Width: 80, Height: 24, Live: true, Zoom: Workers, Focus: Workers}))
	})
	t.Run("color", func(t *testing.T) {
		got := Frame(down(), View{Width: 80, Height: 24, Color: Sixteen})
		checkGolden(t, "color-80x24", strings.ReplaceAll(got, "\x1b", "ESC"))
	})
}
