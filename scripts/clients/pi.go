package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

var pi = client{
	name: "pi", title: "Pi", pkg: "@earendil-works/pi-coding-agent", harness: "pi",
	window: 32768, output: 1200,
	setup: func(l *lab) error {
		data, err := json.Marshal(map[string]any{"providers": map[string]any{"dyn": map[string]any{
			"baseUrl": l.url() + "/v1", "api": "openai-completions", "apiKey": "none",
			"models": []any{map[string]any{
				"id": "sim", "name": "sim", "reasoning": true, "input": []string{"text"}, "contextWindow": l.context, "maxTokens": 4096,
				"cost": map[string]any{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			}},
		}}})
		if err != nil {
			return err
		}
		dir := filepath.Join(l.home, ".pi", "agent")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		// It keeps 20,000 tokens, counted by characters, unless told otherwise.
		settings := []byte(`{"compaction":{"keepRecentTokens":1000}}`)
		return errors.Join(
			os.WriteFile(filepath.Join(dir, "models.json"), data, 0o600),
			os.WriteFile(filepath.Join(dir, "settings.json"), settings, 0o600),
		)
	},
	env: func(*lab) []string {
		return []string{"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"}
	},
	start: func(_ *lab, prompt string) []string {
		return []string{"pi", "-p", "--provider", "dyn", "--model", "sim", prompt}
	},
	again: func(_ *lab, prompt string) []string {
		return []string{"pi", "-p", "--continue", "--provider", "dyn", "--model", "sim", prompt}
	},
	shell:   func(command string) string { return say("bash", map[string]any{"command": command}) },
	no:      map[string]string{"launched": noCommand, "agents": "it has no subagents"},
	kinds:   []string{"compaction"},
	compact: []rule{{When: `(?i)summar(y|ize)`, Say: "SUMMARY-MARK: long lists of numbers were asked for, and printed."}},
}
