package main

import (
	"fmt"
	"os"
	"path/filepath"
)

var opencode = client{
	name: "opencode", title: "OpenCode", pkg: "opencode-ai", harness: "opencode",
	window: 32768, sessions: true, output: 1200,
	setup: func(l *lab) error {
		return os.WriteFile(filepath.Join(l.project, "opencode.json"), fmt.Appendf(nil, opencodeConfig, l.url(), l.context), 0o600)
	},
	env: func(*lab) []string {
		return []string{
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			"OPENCODE_DISABLE_SHARE=1",
		}
	},
	start: func(_ *lab, prompt string) []string { return []string{"opencode", "run", prompt} },
	again: func(_ *lab, prompt string) []string { return []string{"opencode", "run", "--continue", prompt} },
	no:    map[string]string{"launched": noCommand},
	shell: func(command string) string {
		return say("bash", map[string]any{"command": command, "description": "one more step"})
	},
	spawn: say("task", map[string]any{
		"description": "Take two steps", "prompt": "SUBTASK take two steps", "subagent_type": "general",
	}),
	compact: []rule{{When: `new anchored summary|Construct a new summary`, Say: "## Objective\n- SUMMARY-MARK: long lists of numbers were asked for, and printed."}},
}

const opencodeConfig = `{"$schema":"https://opencode.ai/config.json","autoupdate":false,"share":"disabled",
"model":"dyn/sim","small_model":"dyn/sim","permission":"allow",
"provider":{"dyn":{"npm":"@ai-sdk/openai-compatible","name":"dyn","options":{"baseURL":"%s/v1","apiKey":"none"},
"models":{"sim":{"name":"sim","limit":{"context":%d,"output":4096}}}}}}
`
