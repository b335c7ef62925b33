package server

import (
	"fmt"
	"testing"
)

// TestTurnedStrategiesAreFew: turns may name any number of strategies with knobs;
// few are kept, the daemon's own and those without knobs among them.
func TestTurnedStrategiesAreFew(t *testing.T) {
	st := newStage(t, &puppet{name: "w1", caps: caps(4000), play: aWord})
	var k Knobs
	if err := k.Set("router.mode", "dynamo:prefill=3"); err != nil {
		t.Fatal(err)
	}
	st.s.SetKnobs(k)
	name := func(strategy string) {
		if a := ask(t, "POST", st.url+chatPath, says("hi", `,"max_tokens":4`), "x-dyn-router-strategy", strategy); a.status != 200 || a.header.Get(warnHeader) != "" {
			t.Fatalf("%s: %d %q", strategy, a.status, a.header.Get(warnHeader))
		}
	}
	name("")
	name("thompson")
	for i := range 2 * mostTurned {
		name(fmt.Sprint("dynamo:prefill=1:host=", i))
	}
	m, err := st.s.only("")
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	last := fmt.Sprint("dynamo:prefill=1:host=", 2*mostTurned-1)
	if len(m.strategies) != mostTurned+1 || len(m.turned) != mostTurned || m.strategies["dynamo:prefill=3"] == nil || m.strategies["thompson"] == nil || m.strategies[last] == nil {
		t.Errorf("%d strategies, %d with knobs: %v", len(m.strategies), len(m.turned), m.turned)
	}
}
