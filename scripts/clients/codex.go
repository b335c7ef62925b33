package main

import (
	"fmt"
	"os"
	"path/filepath"
)

var codex = client{
	name: "codex", title: "Codex", pkg: "@openai/codex", harness: "codex",
	window: 32768, sessions: true, output: 1200,
	setup: func(l *lab) error {
		dir := filepath.Join(l.home, ".codex")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "config.toml"), fmt.Appendf(nil, codexConfig, l.context, l.url(), l.project), 0o600)
	},
	env: func(*lab) []string { return []string{"DYN_KEY=none", "RUST_LOG=error"} },
	start: func(_ *lab, prompt string) []string {
		return []string{"codex", "exec", "--skip-git-repo-check", prompt}
	},
	again: func(_ *lab, prompt string) []string {
		return []string{"codex", "exec", "--skip-git-repo-check", "resume", "--last", prompt}
	},
	launch: []string{"codex", "--", "exec", "--skip-git-repo-check", "-c", `model_providers={other={name="other",base_url="http://127.0.0.1:1/v1"}}`},
	shell:  func(command string) string { return say("exec_command", map[string]any{"cmd": command}) },
	spawn:  say("multi_agent_v1__spawn_agent", map[string]any{"message": "SUBTASK take two steps"}),
	read:   call{"exec_command", map[string]any{"cmd": "cat " + edited, "yield_time_ms": 10000}}, seen: `Output:(\s|\\n)*hello`,
	edit: call{"exec_command", map[string]any{"cmd": patch("hello\n", afterwards)}}, changed: `Updated the following files`,
	// The lead has to wait for its agent by an id that no script can know, so
	// it does something that takes a while instead.
	lead: []rule{
		{When: `lead-waited`, Say: subagentsBack},
		{When: `agent_id`, Say: say("exec_command", map[string]any{"cmd": "sleep 6; echo lead-waited", "yield_time_ms": 20000})},
	},
	compact: []rule{{When: `CONTEXT CHECKPOINT COMPACTION|handoff summary`, Say: "SUMMARY-MARK: the user asked for long lists of numbers, and they were printed."}},
}

const codexConfig = `model = "sim"
model_provider = "dyn"
model_context_window = %d
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.dyn]
name = "dyn"
base_url = "%s/v1"
env_key = "DYN_KEY"
wire_api = "responses"
[projects."%s"]
trust_level = "trusted"
`
