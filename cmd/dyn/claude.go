package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func claudeCmd(a *app) *cobra.Command {
	return agentCmd(a, agent{
		name: "claude", title: "Claude Code", install: "npm install -g @anthropic-ai/claude-code",
		env: claudeEnv, args: claudeArgs,
	}, examples("dyn claude", "in this folder", `dyn claude -- -p "explain this folder"`, "one prompt, then end",
		"dyn claude --print-env", "what is set for it"))
}

// claudeEnv is what makes Claude Code a good guest of a daemon: all its model
// names lead to one model with its true context, nothing changes the start of
// its prompts from turn to turn (the attribution line does), no classifier or
// tool search of another server is counted on, and it calls nobody else.
func claudeEnv(s served) []pair {
	env := []pair{
		{"ANTHROPIC_BASE_URL", s.URL},
		{"ANTHROPIC_AUTH_TOKEN", token(s)},
		{"ANTHROPIC_API_KEY", ""},
	}
	for _, name := range []string{
		"ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL",
		"ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_DEFAULT_FABLE_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL",
	} {
		env = append(env, pair{name, s.Model})
	}
	if s.Context > 0 {
		env = append(env, pair{"CLAUDE_CODE_MAX_CONTEXT_TOKENS", strconv.Itoa(s.Context)})
	}
	return append(env,
		pair{"CLAUDE_CODE_ATTRIBUTION_HEADER", "0"},
		pair{"CLAUDE_CODE_AUTO_MODE_SERVER", "0"},
		pair{"CLAUDE_CODE_TOTAL_TOKENS_REMINDER", "off"},
		pair{"ENABLE_TOOL_SEARCH", "false"},
		pair{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
		pair{"CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY", "1"},
		pair{"DISABLE_TELEMETRY", "1"},
		pair{"DISABLE_ERROR_REPORTING", "1"},
		pair{"DISABLE_AUTOUPDATER", "1"},
		pair{"DISABLE_FEEDBACK_COMMAND", "1"},
	)
}

// claudeArgs repeats the environment as settings on the command line, because
// the env part of a user's settings file goes before the environment. A key
// is not repeated: everybody on the machine can read a command line. Where
// the user gives settings of their own, those count.
func claudeArgs(s served, args []string) []string {
	for _, arg := range args {
		if arg == "--settings" || strings.HasPrefix(arg, "--settings=") {
			return args
		}
	}
	env := map[string]string{}
	for _, p := range claudeEnv(s) {
		if p.name != "ANTHROPIC_AUTH_TOKEN" || s.Key == "" {
			env[p.name] = p.value
		}
	}
	settings, err := json.Marshal(map[string]any{"env": env})
	if err != nil {
		panic("claude: settings: " + err.Error()) // a map of strings has a JSON form
	}
	return slices.Concat([]string{"--settings", string(settings)}, args)
}

// token is the key an agent sends; without one of the daemon's, a word that
// lets the agent start.
func token(s served) string {
	if s.Key != "" {
		return s.Key
	}
	return "dyn"
}
