package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/agentinfer/dyn/server/life"
)

// hookLimit is after how many seconds a harness is to give up on our hook,
// which takes milliseconds.
const hookLimit = 5

// hookLine is the command of a hook, for a shell.
func hookLine(s served, hook string) string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return quote(self) + " hook " + hook + " " + quote(s.Hooks)
}

// claudeHook is an entry of the settings' hooks.
type claudeHook struct {
	Hooks []claudeCommand `json:"hooks"`
}

type claudeCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds
}

// mergeHooks puts our hooks behind those of the user in his settings. Those of
// his settings files run besides: Claude Code merges them.
func mergeHooks(s served, settings map[string]json.RawMessage) error {
	if s.Hooks == "" {
		return nil
	}
	all := map[string][]json.RawMessage{}
	if given := settings["hooks"]; given != nil {
		if err := json.Unmarshal(given, &all); err != nil {
			return fmt.Errorf("hooks: %w", err)
		}
	}
	if all == nil {
		all = map[string][]json.RawMessage{} // it was null
	}
	for _, hook := range life.Hooks() {
		ours, err := json.Marshal(claudeHook{[]claudeCommand{{"command", hookLine(s, hook), hookLimit}}})
		if err != nil {
			return err
		}
		all[hook] = append(all[hook], ours)
	}
	merged, err := json.Marshal(all)
	settings["hooks"] = merged
	return err
}

// codexHooks are options that add our hooks.
func codexHooks(s served) (options []pair) {
	for _, hook := range life.Hooks() {
		options = append(options, pair{
			"hooks." + hook,
			fmt.Sprintf(`[{matcher="*",hooks=[{type="command",command=%s,timeout=%d}]}]`, strconv.Quote(hookLine(s, hook)), hookLimit),
		})
	}
	return options
}

// codexTrust says what is to be trusted, and how.
func codexTrust(s served) []string {
	return []string{
		"Codex skips hooks that you have not trusted, without a word. Review these in it, where it",
		"lists its hooks, and trust them once; it remembers that. Each of them runs",
		"  " + hookLine(s, "<hook>"),
		"which tells the daemon of this user, and nobody else, names and times: no prompt, no",
		"command, no result. Where your config.toml has hooks of the same names, these stand in their",
		"place for this session. Without them dyn sees by the turns themselves what it can.",
	}
}
