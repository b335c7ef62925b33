package main

import (
	"strconv"

	"github.com/spf13/cobra"
)

// codexKey is the variable that Codex reads the daemon's key from.
const codexKey = "DYN_AGENT_KEY"

func codexCmd(a *app) *cobra.Command {
	return agentCmd(a, agent{
		name: "codex", title: "Codex", install: "npm install -g @openai/codex",
		env:  func(s served) []pair { return []pair{{codexKey, token(s)}} },
		args: codexArgs,
	}, examples("dyn codex", "in this folder", `dyn codex -- exec "explain this folder"`, "one prompt, then end",
		"dyn codex --dry-run", "the command line it gets"))
}

// codexArgs names the daemon as a provider and the model with its context, by
// -c options that count for this run only. The hosted web search is off: the
// daemon has none.
func codexArgs(s served, args []string) []string {
	options := []pair{
		{"model", strconv.Quote(s.Model)},
		{"model_provider", `"dyn"`},
		{"model_providers.dyn.name", `"dyn"`},
		{"model_providers.dyn.base_url", strconv.Quote(s.URL + "/v1")},
		{"model_providers.dyn.env_key", strconv.Quote(codexKey)},
		{"model_providers.dyn.wire_api", `"responses"`},
		{"web_search", `"disabled"`},
		{"check_for_update_on_startup", "false"},
		{"analytics.enabled", "false"},
	}
	if s.Context > 0 {
		options = append(options, pair{"model_context_window", strconv.Itoa(s.Context)})
	}
	var line []string
	for _, o := range options {
		line = append(line, "-c", o.name+"="+o.value)
	}
	return append(line, args...)
}
