package main

import (
	"slices"
	"testing"

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
