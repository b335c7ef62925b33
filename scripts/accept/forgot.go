package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// forgot checks that the index holds nothing of a worker's former life: at
// most what its first token left.
func forgot(path, name string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var doc struct{ Workers []snapshot.Worker }
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	for _, w := range doc.Workers {
		if w.Name != name {
			continue
		}
		if w.Restarts == 0 {
			return fmt.Errorf("%s was not started again", name)
		}
		for _, t := range w.Tiers {
			if t.Cached > 2*16 {
				return fmt.Errorf("%s: the index still holds %d tokens of tier %s", name, t.Cached, t.Name)
			}
		}
		fmt.Printf("ok: %s was started again, and the index has forgotten its blocks\n", name)
		return nil
	}
	return fmt.Errorf("no worker %s", name)
}
