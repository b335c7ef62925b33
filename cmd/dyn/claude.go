package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func claudeCmd(a *app) *cobra.Command {
	return agentCmd(a, agent{
		name: "claude", title: "Claude Code", hooked: true, install: "npm install -g @anthropic-ai/claude-code",
		env: claudeEnv, line: claudeLine,
		own: "Your own --settings count, but for what leads\nto the daemon, and so do your own hooks.",
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
	}
	for _, name := range leading[2:] {
		env = append(env, pair{name, ""}) // another key, and other makers' services
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

// claudeLine repeats the environment as settings on the command line, because
// the env part of a user's settings file goes before the environment. Settings
// that the user gives are merged with them, and our hooks stand behind his. They go into a file where he chose
// one, and where a key is among them: everybody on the machine can read a
// command line.
func claudeLine(s served, args []string) line {
	warn := claudeWarn(s)
	value, rest, given := cutSettings(args)
	settings := map[string]json.RawMessage{}
	if given {
		var err error
		if settings, err = readSettings(value); err != nil {
			return line{args: args, warn: warn} // Claude Code says what is wrong with it
		}
	}
	lost, err := mergeSettings(claudeEnv(s), settings)
	if err != nil {
		return line{args: args, warn: warn}
	}
	if err := mergeHooks(s, settings); err != nil {
		return line{args: args, warn: warn}
	}
	for _, name := range lost {
		warn = append(warn, "--settings sets "+name+"; here it is dyn's, or the session would go elsewhere")
	}
	data, err := json.Marshal(settings)
	if err != nil {
		panic("claude: settings: " + err.Error()) // what was read as JSON has a JSON form
	}
	l := line{args: slices.Concat([]string{"--settings", string(data)}, rest), warn: warn, at: 1}
	if s.Key != "" || given && !inline(value) {
		l.file = settingsFile(s.Run, data)
	}
	return l
}

// claudeNeeds is the smallest context that Claude Code works well in, in
// tokens: it keeps about 33k in reserve for its summary, and its first prompt
// has some 13k to 20k (recorded with 2.1.332).
const claudeNeeds = 65_536

// claudeWarn tells what of the model does not go well with Claude Code.
func claudeWarn(s served) (w []string) {
	if s.Context > 0 && s.Context < claudeNeeds {
		w = append(w, fmt.Sprintf("%s has a context of %s tokens: Claude Code keeps about 33k of it in reserve and begins with up to 20k, so it wants %s or more",
			s.Model, count(s.Context), count(claudeNeeds)))
	}
	if strings.HasPrefix(s.Model, "claude-") || strings.Contains(s.Model, "[1m]") {
		w = append(w, s.Model+" is a name that Claude Code knows: it takes the context of that model, not "+count(s.Context)+" tokens")
	}
	return w
}

// token is the key an agent sends; without one of the daemon's, a word that
// lets the agent start.
func token(s served) string {
	if s.Key != "" {
		return s.Key
	}
	return "dyn"
}
