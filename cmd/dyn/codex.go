package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// codexKey is the variable that Codex reads the daemon's key from.
const codexKey = "DYN_AGENT_KEY"

func codexCmd(a *app) *cobra.Command {
	return agentCmd(a, agent{
		name: "codex", title: "Codex", install: "npm install -g @openai/codex",
		env:  func(s served) []pair { return []pair{{codexKey, token(s)}} },
		line: codexLine,
		own:  "Your own -c options count. Codex runs hooks only once\nyou have trusted them, so --hooks is off unless you ask for it.",
	}, examples("dyn codex", "in this folder", `dyn codex -- exec "explain this folder"`, "one prompt, then end",
		"dyn codex --dry-run", "the command line it gets"))
}

// codexLine names the daemon as a provider and the model with its context, by
// -c options that count for this run only. The hosted web search is off: the
// daemon has none. What the user's own options say counts, since Codex takes
// the last; where one of them takes the daemon's entry from the table of
// providers, that entry is given again behind it.
func codexLine(s served, args []string) (l line) {
	provider := overrides([]pair{
		{"model_providers.dyn.name", `"dyn"`},
		{"model_providers.dyn.base_url", strconv.Quote(s.URL + "/v1")},
		{"model_providers.dyn.env_key", strconv.Quote(codexKey)},
		{"model_providers.dyn.wire_api", `"responses"`},
	})
	options := []pair{{"model", strconv.Quote(s.Model)}, {"model_provider", `"dyn"`}}
	more := []pair{{"web_search", `"disabled"`}, {"check_for_update_on_startup", "false"}, {"analytics.enabled", "false"}}
	if s.Context > 0 {
		more = append(more, pair{"model_context_window", strconv.Itoa(s.Context)})
	}
	if s.Hooks != "" {
		more = append(more, codexHooks(s)...)
		l.tell = codexTrust(s)
	}
	l.args = slices.Concat(overrides(options), provider, overrides(more))
	for i := 0; i < len(args); {
		words, key := codexOption(args[i:])
		l.args = append(l.args, args[i:i+words]...)
		i += words
		switch {
		case key == "model_provider", key == "--oss":
			l.warn = append(l.warn, strings.Join(args[i-words:i], " ")+" leads Codex elsewhere than to dyn")
		case key == "model_providers", key == "model_providers.dyn", strings.HasPrefix(key, "model_providers.dyn."):
			l.args = append(l.args, provider...)
		case key == "--":
			l.args = append(l.args, args[i:]...)
			return l
		}
	}
	return l
}

// overrides are options of Codex that set one thing each.
func overrides(all []pair) (args []string) {
	for _, o := range all {
		args = append(args, "-c", o.name+"="+o.value)
	}
	return args
}

// codexOption reads the first of Codex's arguments: how many words it has, and
// what it sets, or itself where it is no -c option.
func codexOption(args []string) (words int, key string) {
	set, words := "", 1
	switch first := args[0]; {
	case (first == "-c" || first == "--config") && len(args) > 1:
		set, words = args[1], 2
	case strings.HasPrefix(first, "--config="):
		set = strings.TrimPrefix(first, "--config=")
	case strings.HasPrefix(first, "-c") && first != "-c":
		set = strings.TrimPrefix(strings.TrimPrefix(first, "-c"), "=")
	default:
		return 1, first
	}
	key, _, _ = strings.Cut(set, "=")
	return words, strings.TrimSpace(key)
}
