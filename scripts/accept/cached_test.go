package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/ledger"
)

func TestCached(t *testing.T) {
	turn := func(agent string, second, prompt, cached, output int) ledger.Turn {
		return ledger.Turn{ID: "t", Session: "s", Agent: agent, At: time.Unix(int64(second), 0), Prompt: prompt, Cached: cached, Output: output}
	}
	for _, c := range []struct {
		name  string
		turns []ledger.Turn
		bad   string // "" passes
	}{
		{"grown and cached", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("a", 2, 1200, 1088, 10)}, ""},
		{"out of order", []ledger.Turn{turn("a", 2, 1200, 1088, 10), turn("a", 1, 1000, 0, 100)}, ""},
		{"at the limit", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("a", 2, 1200, 1068, 10)}, ""},
		{"one token beyond", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("a", 2, 1200, 1067, 10)}, "1 of 1 turns"},
		{"another agent's turn between", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("b", 2, 900, 0, 5), turn("a", 3, 1200, 1088, 10)}, ""},
		{"first turns only", []ledger.Turn{turn("a", 1, 1000, 0, 100), turn("b", 2, 900, 0, 5)}, "no turn to check"},
		{"a turn without figures", []ledger.Turn{turn("a", 1, 0, 0, 0)}, "told no prompt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, err := json.Marshal(map[string]any{"turns": c.turns})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "turns.json")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			err = cached(path)
			if (err == nil) != (c.bad == "") || (err != nil && !strings.Contains(err.Error(), c.bad)) {
				t.Fatalf("cached = %v, want %q", err, c.bad)
			}
		})
	}
}
