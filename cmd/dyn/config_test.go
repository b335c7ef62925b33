package main

import (
	"slices"
	"testing"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/server"
)

// TestLiveSettings: what the table says may be changed while the daemon runs
// is what the daemon lets be changed.
func TestLiveSettings(t *testing.T) {
	keys := slices.Sorted(slices.Values(server.KnobKeys()))
	var live []string
	for _, s := range config.Settings {
		if s.Live {
			live = append(live, s.Key)
		}
	}
	if slices.Sort(live); !slices.Equal(live, keys) {
		t.Errorf("the table has %v, the daemon %v", live, keys)
	}
}

// TestBenchArms: what is compared where nobody says what is there.
func TestBenchArms(t *testing.T) {
	if b, err := (benchFlags{sessions: "1", prefix: "10", pause: "1s", turns: 1, rounds: 1, step: 1, output: 1}).bench(); err != nil || len(b.arms) != 2 {
		t.Errorf("%+v, %v", b, err)
	}
}

// TestPause reads the ways to write one.
func TestPause(t *testing.T) {
	for text, want := range map[string][2]time.Duration{
		"2-30s": {2 * time.Second, 30 * time.Second}, "500ms-2s": {500 * time.Millisecond, 2 * time.Second}, "5s": {5 * time.Second, 5 * time.Second}, "0s": {},
		"30-2s": {-1}, "soon": {-1}, "-1s": {-1}, "2-": {-1}, "": {-1},
	} {
		got, err := pauseOf(text)
		if bad := want[0] < 0; (err != nil) != bad || !bad && got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
