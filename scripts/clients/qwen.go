package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

var qwen = client{
	name: "qwen", title: "Qwen Code", pkg: "@qwen-code/qwen-code", harness: "qwen-code",
	window: 32768, output: 700,
	setup: func(l *lab) error {
		data, err := json.Marshal(map[string]any{
			"general":   map[string]any{"enableAutoUpdate": false},
			"telemetry": map[string]any{"enabled": false},
			"privacy":   map[string]any{"usageStatisticsEnabled": false},
			"security":  map[string]any{"auth": map[string]any{"selectedType": "openai"}},
			"model":     map[string]any{"name": "sim", "generationConfig": map[string]any{"contextWindowSize": l.context}},
		})
		if err != nil {
			return err
		}
		dir := filepath.Join(l.home, ".qwen")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "settings.json"), data, 0o600)
	},
	env: func(l *lab) []string {
		return []string{
			"OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + l.url() + "/v1", "OPENAI_MODEL=sim",
			"QWEN_TELEMETRY_ENABLED=false", "GEMINI_TELEMETRY_ENABLED=false",
		}
	},
	start: func(l *lab, prompt string) []string {
		return []string{"node", l.module("@qwen-code/qwen-code/cli.js"), "--yolo", "-p", prompt}
	},
	again: func(l *lab, prompt string) []string {
		return []string{"node", l.module("@qwen-code/qwen-code/cli.js"), "--yolo", "--continue", "-p", prompt}
	},
	no: map[string]string{"launched": noCommand},
	shell: func(command string) string {
		// On a busy machine it loses what a command prints just before its end.
		return say("run_shell_command", map[string]any{"command": command + "; sleep 0.3", "is_background": false})
	},
	spawn: say("agent", map[string]any{
		"description": "Take two steps", "prompt": "SUBTASK take two steps", "subagent_type": "general-purpose", "run_in_background": false,
	}),
	kinds: []string{"compaction"},
	compact: []rule{{
		When: `produce the <state_snapshot> XML`,
		Say:  "<analysis>\nThe user wants numbers.\n</analysis>\n<state_snapshot>\n<overall_goal>SUMMARY-MARK: the user asked for long lists of numbers, and they were printed.</overall_goal>\n</state_snapshot>",
	}},
}
