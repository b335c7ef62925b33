package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestManyReferences: what references to a long tool stand for is bounded, and
// the first ones are told whole.
func TestManyReferences(t *testing.T) {
	tools := []turn.Tool{{Name: "long", Description: strings.Repeat("Looks well. ", 100_000), Deferred: true}}
	tr := &turn.Turn{Tools: tools, Messages: []turn.Message{msg(turn.User, says("hi"))}}
	for i := range 100 {
		r := result(fmt.Sprint(i))
		r.Refs = []string{"long", "long"}
		tr.Messages = append(tr.Messages, msg(turn.ToolRole, r))
	}
	Steady(tr)
	size := 0
	for _, m := range tr.Messages {
		size += len(m.Blocks[0].Text)
	}
	if first := tr.Messages[1].Blocks[0].Text; strings.Count(first, tools[0].Description) != 2 {
		t.Errorf("the first result tells %d bytes", len(first))
	}
	last := tr.Messages[100].Blocks[0].Text
	if want := "99\n<functions>\n" + strings.Repeat(`<function>{"name":"long"}</function>`+"\n", 2) + "</functions>"; last != want {
		t.Errorf("the last result tells %.200q", last)
	}
	if size > mostTold+100*200 {
		t.Errorf("%d bytes are told", size)
	}
}
