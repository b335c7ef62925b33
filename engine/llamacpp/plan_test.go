package llamacpp

import (
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// The recorded load, with our plan, on a server that does as described: how
// much of it is found.
func TestPlanOnRecordedLoad(t *testing.T) {
	var load []request
	for _, r := range recordedRuns(t) {
		if r.Label == "sps09-ram" {
			load = r.Requests
		}
	}
	for _, c := range []struct {
		name          string
		slots         int
		ram           bool
		longer        int // tokens more at the common beginning
		alone, asking int // tokens found when the server chooses, and with our plan
	}{
		{"2 slots, saved", 2, true, 0, 2792, 2862},
		{"4 slots, saved", 4, true, 0, 2560, 2822},
		{"2 slots", 2, false, 0, 1624, 1624},
		{"4 slots", 4, false, 0, 2560, 2560},
		{"2 slots, saved, long beginning", 2, true, 2000, 31740, 31740},
	} {
		if n := findings(load, c.slots, c.ram, c.longer, false); n != c.alone {
			t.Errorf("%s: %d found by the server's choice, want %d", c.name, n, c.alone)
		}
		if n := findings(load, c.slots, c.ram, c.longer, true); n != c.asking {
			t.Errorf("%s: %d found with a plan, want %d", c.name, n, c.asking)
		}
	}
}

// A slot on which we hung up is not asked for before its turn has surely ended,
// since who asks for a slot waits for it.
func TestNobodyWaitsForWhomWeLeft(t *testing.T) {
	for _, saving := range []bool{true, false} {
		m := newMirror(2, rules{similarity: 0.9, saving: saving, perToken: 1})
		ask := func(n, slot int) int {
			c := &claim{prompt: said(0, n)}
			m.plan(c)
			m.begin(c)
			m.end(c, outcome{slot: slot, cached: c.reuse, ids: c.prompt, size: n})
			return c.pin
		}
		ask(200, 1)
		if pin := ask(300, 1); pin != 1 {
			t.Fatalf("asks for slot %d", pin)
		}
		ask(400, -1)
		if pin := ask(500, 0); pin != -1 {
			t.Errorf("saving %v: asks for slot %d, on which we hung up", saving, pin)
		}
		ask(600, -1)
		m.rests(0)
		if pin := ask(800, 0); pin < 0 {
			t.Errorf("saving %v: asks for none, though all rest", saving)
		}
	}
}

// findings runs a load and returns how many tokens were found.
func findings(load []request, slots int, ram bool, longer int, plans bool) (found int) {
	p := &pretend{similarity: 0.9, ram: ram, slots: make([]place, slots)}
	m := newMirror(slots, rules{similarity: 0.9, saving: ram, perToken: 1})
	ids := func(agent, n int) turn.IDs {
		return turn.IDsOf(append(make([]uint32, longer), said(agent, n).Flat()...)...)
	}
	for _, q := range load {
		c := &claim{prompt: ids(q.Agent, q.Prompt), pin: -1}
		if plans {
			m.plan(c)
		}
		m.begin(c)
		served := &task{prompt: c.prompt.Flat(), pin: c.pin, reuse: true}
		p.start(served)
		found += served.cached
		all := ids(q.Agent, q.Prompt+repeated)
		p.finish(served, c.prompt.Len(), all.Flat()[c.prompt.Len():])
		m.end(c, outcome{slot: served.slot, cached: served.cached, ids: all, size: all.Len()})
	}
	return found
}
