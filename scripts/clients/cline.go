package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

var cline = client{
	name: "cline", title: "Cline", pkg: "cline", window: 32768, output: 1200,
	setup: func(l *lab) error {
		data, err := json.Marshal(map[string]any{
			"version": 1, "lastUsedProvider": "openai-compatible", "modes": map[string]any{},
			"providers": map[string]any{"openai-compatible": map[string]any{
				"settings": map[string]any{
					"provider": "openai-compatible", "apiKey": "none", "model": "sim", "baseUrl": l.url() + "/v1", "contextWindow": l.context,
				},
				"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
			}},
		})
		if err != nil {
			return err
		}
		dir := filepath.Join(l.home, ".cline", "data", "settings")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "providers.json"), data, 0o600)
	},
	env: func(*lab) []string { return []string{"CLINE_TELEMETRY_DISABLED=1", "CLINE_NO_AUTO_UPDATE=1"} },
	start: func(_ *lab, prompt string) []string {
		return []string{"cline", "--auto-approve", "true", prompt}
	},
	no:      map[string]string{"launched": noCommand, "resume": "it resumes in a terminal only"},
	shell:   func(command string) string { return say("run_commands", map[string]any{"commands": []string{command}}) },
	spawn:   say("spawn_agent", map[string]any{"systemPrompt": "You take steps.", "task": "SUBTASK take two steps"}),
	fails:   true,
	kinds:   []string{"subagent"},
	compact: []rule{{When: `Summarize this session for continuation`, Say: "SUMMARY-MARK: long lists of numbers were asked for, and printed."}},
}
