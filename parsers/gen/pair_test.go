package gen

import (
	"testing"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/parsers"
)

// Reasoning is not read by the spec of another family's calls, which would
// absorb the markers of these: Cohere's two families share those of reasoning.
func TestWhichPairs(t *testing.T) {
	text, ok := fixtures.Templates(t)["ik-Cohere2MoE"]
	if !ok {
		t.Skip("no template of Cohere2-MoE")
	}
	c, err := Which(parsers.Builtin(), Model{Name: "m", Template: text})
	if err != nil || c.Tools != "cohere_command3" || c.Reasoning != "cohere_command3" {
		t.Errorf("got %+v, %v", c, err)
	}
}
