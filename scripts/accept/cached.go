package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"

	"github.com/agentinfer/dyn/ledger"
)

// slack is what may be computed again beyond what is new: two blocks, since
// caches hold whole blocks and the last token is always computed.
const slack = 2 * 16

// cached checks every turn after an agent's first: what was computed is what
// is new, by the engine's own figures.
func cached(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var doc struct{ Turns []ledger.Turn }
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	sort.SliceStable(doc.Turns, func(i, j int) bool { return doc.Turns[i].At.Before(doc.Turns[j].At) })
	last := map[string]ledger.Turn{}
	checked, bad := 0, 0
	for _, t := range doc.Turns {
		if t.Prompt == 0 {
			return fmt.Errorf("turn %s: %s, and the engine told no prompt: %s", t.ID, t.Outcome, t.Error)
		}
		key := t.Session + " " + t.Agent
		before, seen := last[key]
		last[key] = t
		if !seen {
			continue
		}
		checked++
		again := t.Prompt - t.Cached
		fresh := t.Prompt - (before.Prompt + before.Output)
		if again > fresh+slack {
			bad++
			fmt.Printf("%s %s/%s on %s (before %s): computed %d of %d tokens, new are %d\n",
				t.ID, t.Session, t.Agent, t.Worker, before.Worker, again, t.Prompt, fresh)
		}
	}
	switch {
	case checked == 0:
		return fmt.Errorf("no turn to check among %d", len(doc.Turns))
	case bad > 0:
		return fmt.Errorf("%d of %d turns computed more than what was new", bad, checked)
	}
	fmt.Printf("ok: %d turns of %d agents computed only what was new\n", checked, len(last))
	return nil
}
