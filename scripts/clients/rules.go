package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// rule is one rule of a brain file (engine/sim/brain).
type rule struct {
	When    string  `json:"when,omitempty"`
	Seen    *int    `json:"seen,omitempty"`
	Prefix  int     `json:"prefix,omitempty"`
	Say     string  `json:"say,omitempty"`
	Answer  *answer `json:"answer,omitempty"`
	TokenMS float64 `json:"token_ms,omitempty"`
	Fault   string  `json:"fault,omitempty"`
	After   int     `json:"after,omitempty"`
}

// count is for the Seen of a rule.
func count(n int) *int { return &n }

// write writes a brain file; JSON is YAML too.
func write(path string, rules []rule) error {
	data, err := json.MarshalIndent(map[string]any{"rules": rules}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// say is a tool call as the simulated model writes it.
func say(tool string, args map[string]any) string {
	data, err := json.Marshal(map[string]any{"name": tool, "arguments": args})
	if err != nil {
		panic("rules: a call of strings has a JSON form: " + err.Error())
	}
	return "<tool_call>\n" + string(data) + "\n</tool_call>"
}

// think puts thoughts before an answer.
func think(thought, answer string) string {
	return fmt.Sprintf("<think>\n%s\n</think>\n\n%s", thought, answer)
}

// titles are asked for beside the conversation by some clients.
var titles = rule{When: `(?i)generate a (short |brief |concise )?title|title generator`, Say: "A tour of the folder"}
