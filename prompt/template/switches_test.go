package template

import (
	"encoding/json"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestSwitches checks that a template which is given the switches of a turn,
// and knows nothing else of it, prints the same.
func TestSwitches(t *testing.T) {
	const body = `{% for m in messages %}{{ m.content }} {% endfor %}{{ enable_thinking }} {{ reasoning_effort or 'medium' }} {{ clear }}`
	for _, c := range []struct {
		name     string
		switches map[string]any
		think    turn.Thinking
		want     string
	}{
		{"none", nil, turn.Thinking{}, ""},
		{"the recipe's", map[string]any{"clear": []any{false, "é"}}, turn.Thinking{}, `{"clear": [false, "é"]}`},
		{"the turn before the recipe", map[string]any{"enable_thinking": true}, turn.Thinking{Mode: "off"}, `{"enable_thinking": false}`},
		{"both", map[string]any{"clear": 1}, turn.Thinking{Mode: "on", Effort: "max"}, `{"clear": 1, "enable_thinking": true, "reasoning_effort": "high"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tn := &turn.Turn{Messages: []turn.Message{user("q")}, Thinking: c.think}
			got := opened(t, body, c.switches).Switches(tn)
			if string(got) != c.want {
				t.Fatalf("got %s, want %s", got, c.want)
			}
			var told map[string]any
			if got != nil {
				if err := json.Unmarshal(got, &told); err != nil {
					t.Fatal(err)
				}
			}
			var ours, theirs Page
			if err := opened(t, body, c.switches).Render(&ours, tn); err != nil {
				t.Fatal(err)
			}
			if err := opened(t, body, told).Render(&theirs, &turn.Turn{Messages: tn.Messages}); err != nil {
				t.Fatal(err)
			}
			if string(ours.Text) != string(theirs.Text) {
				t.Errorf("ours %q, theirs %q", ours.Text, theirs.Text)
			}
		})
	}
}
