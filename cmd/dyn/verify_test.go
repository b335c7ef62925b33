package main

import (
	"testing"

	prompts "github.com/agentinfer/dyn/engine/check"
	"github.com/agentinfer/dyn/ledger/snapshot"
)

// What doctor says of a worker's prompts tells each way that turns go there,
// and why.
func TestPromptLine(t *testing.T) {
	equal := prompts.Report{Findings: []prompts.Finding{{Name: "plain", Result: prompts.Equal}}}
	for _, c := range []struct {
		name   string
		report prompts.Report
		worker snapshot.Worker
		state  string
		text   string
	}{
		{"by ids", equal, snapshot.Worker{Name: "w0", Path: "tokens"}, "ok", "w0: " + equal.Summary()},
		{
			"images by its chat API", equal,
			snapshot.Worker{Name: "w0", Path: "both", PathWhy: "turns with images take its chat API"},
			"ok", "w0: " + equal.Summary() + "; turns with images take its chat API",
		},
		{
			"all by its chat API",
			prompts.Report{},
			snapshot.Worker{Name: "a0", Path: "chat", PathWhy: "no tokenizer"},
			"warn", "a0: turns go to its chat API: no tokenizer",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := promptLine(c.report, c.worker, false); got.State != c.state || got.Text != c.text {
				t.Errorf("%s %q, want %s %q", got.State, got.Text, c.state, c.text)
			}
		})
	}
}
