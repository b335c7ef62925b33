package parsers

import (
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestOpening: what goes behind the prompt and what the model adds make one
// call, also when the end tag was the stop string.
func TestOpening(t *testing.T) {
	for _, c := range []struct{ name, rest, want string }{
		{"", `{"name": "a b\"c", "arguments": {"x": 1}}` + "\n", `a b"c`},
		{`a b"c`, `{"x": 1}}` + "\n", `a b"c`},
		{`a b"c`, `{"x": 1}}` + "\n" + CallEnd("hermes"), `a b"c`},
	} {
		s, err := New(Options{Tools: "hermes", Reasoning: "think"})
		if err != nil {
			t.Fatal(err)
		}
		var name, args string
		events := s.Push(nil, Opening("hermes", c.name)+c.rest)
		for _, e := range s.Close(events) {
			switch e.Kind {
			case turn.CallStart:
				name += e.Call.Name
			case turn.CallArgs:
				args += e.Text
			case turn.Says, turn.Reasoning:
				t.Errorf("%q: text %q", c.rest, e.Text)
			}
		}
		if name != c.want || args != `{"x": 1}` {
			t.Errorf("%q: call %q %s", c.rest, name, args)
		}
	}
	if Opening("", "x") != "" || CallEnd("") != "" {
		t.Error("a format without calls has no opening")
	}
}
