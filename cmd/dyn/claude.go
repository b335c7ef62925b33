package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func claudeCmd(a *app) *cobra.Command {
	return agentCmd(a, agent{
		name: "claude", title: "Claude Code", install: "npm install -g @anthropic-ai/claude-code",
		env: claudeEnv, args: claudeArgs, warn: func(s served) []string { return claudeWarn(s, claudeSettings()) },
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

// claudeNeeds is the smallest context that Claude Code works well in, in
// tokens: it keeps about 33k in reserve for its summary, and its first prompt
// has some 13k to 20k (recorded with 2.1.332).
const claudeNeeds = 65_536

// claudeWarn tells what of the model or of the user's settings files does not
// go well with Claude Code.
func claudeWarn(s served, files []string) (w []string) {
	if s.Context > 0 && s.Context < claudeNeeds {
		w = append(w, fmt.Sprintf("%s has a context of %s tokens: Claude Code keeps about 33k of it in reserve and begins with up to 20k, so it wants %s or more",
			s.Model, count(s.Context), count(claudeNeeds)))
	}
	if strings.HasPrefix(s.Model, "claude-") || strings.Contains(s.Model, "[1m]") {
		w = append(w, s.Model+" is a name that Claude Code knows: it takes the context of that model, not "+count(s.Context)+" tokens")
	}
	if s.Key == "" {
		return w
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var file struct{ Env map[string]string }
		if json.Unmarshal(data, &file) == nil && file.Env["ANTHROPIC_AUTH_TOKEN"] != "" {
			w = append(w, path+" sets ANTHROPIC_AUTH_TOKEN, which goes before the daemon's key")
		}
	}
	return w
}

// claudeSettings are the settings files of the user and of this folder.
func claudeSettings() []string {
	dir := os.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(os.Getenv("HOME"), ".claude")
	}
	return []string{
		filepath.Join(dir, "settings.json"), filepath.Join(".claude", "settings.json"), filepath.Join(".claude", "settings.local.json"),
	}
}

// token is the key an agent sends; without one of the daemon's, a word that
// lets the agent start.
func token(s served) string {
	if s.Key != "" {
		return s.Key
	}
	return "dyn"
}
