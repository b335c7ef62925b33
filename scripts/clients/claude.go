package main

import "strconv"

var claude = client{
	name: "claude", title: "Claude Code", pkg: "@anthropic-ai/claude-code", harness: "claude-code",
	window: 65536, sessions: true, output: 2600,
	env: func(l *lab) []string {
		env := []string{
			"ANTHROPIC_BASE_URL=" + l.url(), "ANTHROPIC_AUTH_TOKEN=none", "IS_SANDBOX=1",
			"CLAUDE_CODE_MAX_CONTEXT_TOKENS=" + strconv.Itoa(l.context), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		}
		for _, name := range []string{"", "DEFAULT_OPUS_", "DEFAULT_SONNET_", "DEFAULT_HAIKU_"} {
			env = append(env, "ANTHROPIC_"+name+"MODEL=sim")
		}
		return env
	},
	start: func(_ *lab, prompt string) []string {
		return []string{"claude", "-p", "--allowedTools", claudeTools, "--", prompt}
	},
	again: func(_ *lab, prompt string) []string {
		return []string{"claude", "-p", "--continue", "--allowedTools", claudeTools, "--", prompt}
	},
	launch: []string{"claude", "--", "--settings", `{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:1","CLAUDE_CODE_USE_BEDROCK":"1"}}`, "-p"},
	shell: func(command string) string {
		return say("Bash", map[string]any{"command": command, "description": "one more step"})
	},
	spawn: say("Agent", map[string]any{
		"description": "Take two steps", "prompt": "SUBTASK take two steps", "subagent_type": "general-purpose",
	}),
	alike: 12,
	read:  call{"Read", map[string]any{"file_path": edited}}, seen: `1(→|\\t|\t)hello`,
	edit:    call{"Edit", map[string]any{"file_path": edited, "old_string": "hello\n", "new_string": afterwards, "replace_all": false}},
	changed: `has been updated`,
	// Agents run beside the lead, and their end is told to it in a new prompt.
	lead: []rule{{When: `launched`, Say: "I wait for my agent."}},
	compact: []rule{{
		When: `Do NOT call any tools\. Respond with plain text only`,
		Say:  "<analysis>\nThe user wants numbers.\n</analysis>\n\n<summary>\n1. Primary Request and Intent: the user asked for long lists of numbers, and they were printed. SUMMARY-MARK\n2. Pending Tasks: one more answer in words.\n</summary>",
	}},
}

const claudeTools = "Bash Read Write Edit Agent Glob Grep"
