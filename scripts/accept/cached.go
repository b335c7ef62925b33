package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/scripts/reuse"
)

// cached checks every turn after an agent's first: what was computed is what
// is new, by the engine's own figures. Nothing here fails or begins anew.
func cached(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var doc struct{ Turns []ledger.Turn }
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	for _, t := range doc.Turns {
		if t.Prompt == 0 {
			return fmt.Errorf("turn %s: %s, and the engine told no prompt: %s", t.ID, t.Outcome, t.Error)
		}
	}
	sum := reuse.Check(doc.Turns)
	for _, m := range sum.Misses {
		fmt.Println(m)
	}
	switch {
	case sum.Checked == 0:
		return fmt.Errorf("no turn to check among %d", len(doc.Turns))
	case len(sum.Restarts) > 0:
		return fmt.Errorf("%d prompts are shorter than the one before", len(sum.Restarts))
	case len(sum.Misses) > 0:
		return fmt.Errorf("%d of %d turns computed more than what was new", len(sum.Misses), sum.Checked)
	}
	fmt.Printf("ok: %d turns of %d agents computed only what was new\n", sum.Checked, sum.Agents)
	return nil
}
