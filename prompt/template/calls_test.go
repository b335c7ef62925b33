package template

import (
	"fmt"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestCalls: in a long answer, which is indexed, calls are found as in a short
// one: the first with an id, in the answer that is nearest.
func TestCalls(t *testing.T) {
	for _, n := range []int{3, longAnswer, 5 * longAnswer} {
		answer := func(tool string) turn.Message {
			m := turn.Message{Role: turn.Assistant, Blocks: []turn.Block{{Text: "I look.", ID: "1"}}}
			for k := range n {
				m.Blocks = append(m.Blocks, turn.Block{Kind: turn.ToolUse, ID: fmt.Sprint(k / 2), Name: fmt.Sprint(tool, k)})
			}
			return m
		}
		c := calls{ms: []turn.Message{answer("far"), {Role: turn.User}, answer("near"), {Role: turn.ToolRole}}}
		c.ms[2].Blocks = c.ms[2].Blocks[:n] // the last call is missing
		for k := range n / 2 {
			id := fmt.Sprint(k)
			if got := c.index(0, id); got != 1+2*k {
				t.Errorf("of %d calls, %s is block %d", n, id, got)
			}
			if got, want := c.name(3, id), fmt.Sprint("near", 2*k); got != want {
				t.Errorf("of %d calls, %s is of %q, want %q", n, id, got, want)
			}
		}
		if n%2 == 1 {
			if got, want := c.name(3, fmt.Sprint(n/2)), fmt.Sprint("far", n-1); got != want {
				t.Errorf("of %d calls, the last is of %q, want %q", n, got, want)
			}
		}
		if c.index(0, "x") != -1 || c.name(3, "x") != "" || c.index(1, "0") != -1 {
			t.Error("a call that is not there is found")
		}
	}
}
