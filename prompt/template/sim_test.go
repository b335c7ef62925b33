package template

import (
	"os"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine/sim/model"
)

// The simulated model's template, with the switch that drops old thoughts,
// prints what the renderer of its family printed that templates took over
// from.
func TestSim(t *testing.T) {
	data, err := os.ReadFile("testdata/sim.txt")
	if err != nil {
		t.Fatal(err)
	}
	tmpl, err := Open(model.FS(), Options{Switches: map[string]any{"preserve_thinking": false}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		messages int
		mode     string
	}{
		{"asked", 2, ""},
		{"asked, thinking off", 2, "off"},
		{"in a loop", 4, ""},
		{"in a loop, thinking off", 4, "off"},
		{"whole", 8, ""},
	} {
		_, want, ok := strings.Cut(string(data), "-- "+c.name+" --\n")
		want, _, _ = strings.Cut(want, "¶\n")
		tn := talk()
		tn.Messages, tn.Thinking.Mode = tn.Messages[:c.messages], c.mode
		var p Page
		if err := tmpl.Render(&p, tn); err != nil {
			t.Fatal(err)
		}
		if !ok || string(p.Text) != want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, p.Text, want)
		}
	}
}
