package parsers

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzSplit checks that any split of any text gives the same answer, that
// arguments are valid JSON objects, and that an answer without a whole call
// loses none of its letters.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"Hi <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"x\\n\"]}}\n</tool_call> there",
		"<think>\nplan <tool_call>{\"name\": \"f\"}</tool_call> no\n</think>\n\nDone.",
		"<tool_call>[{'name': 'f', 'arguments': {'a': True,}}, {\"name\": 1}]</tool_call>",
		"<tool_call>{\"arguments\": \"{\\\"a\\\": 1}\", \"name\": \"g\"}</tool_call></think>x",
		"a <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"b\n</tool_call> z <tool_call",
	} {
		f.Add(s, uint8(3), uint8(0))
		f.Add(s, uint8(1), uint8(7))
	}
	f.Fuzz(func(t *testing.T, text string, step, mode uint8) {
		o := Options{Thinks: mode&1 != 0}
		if mode&2 == 0 {
			o.Tools = "hermes"
		}
		if mode&4 == 0 {
			o.Reasoning = "think"
		}
		cut := mode&8 != 0
		whole := read(t, o, cut, text)
		var pieces []string
		for i := 0; i < len(text); i += int(step)%7 + 1 {
			pieces = append(pieces, text[i:min(len(text), i+int(step)%7+1)])
		}
		if parts := read(t, o, cut, pieces...); !same(whole, parts) {
			t.Fatalf("in pieces %+v, one-shot %+v", parts, whole)
		}
		said := whole.reasoning + whole.content
		for _, c := range whole.calls {
			var obj map[string]any
			if err := json.Unmarshal([]byte(strings.ToValidUTF8(Repair(c.args), "?")), &obj); err != nil {
				t.Fatalf("arguments %q: %v", c.args, err)
			}
			if !cut && c.args != Repair(c.args) {
				t.Fatalf("arguments %q are no strict JSON", c.args)
			}
		}
		if len(whole.calls) == 0 && !cut && letters(said) != letters(text) {
			t.Fatalf("letters lost: got %q of %q", said, text)
		}
	})
}

// letters is s without white space and tags.
func letters(s string) string {
	for before := ""; before != s; {
		before = s
		s = strings.Join(strings.Fields(s), "")
		for _, tag := range []string{openThink, closeThink, openCall, closeCall} {
			s = strings.ReplaceAll(s, tag, "")
		}
	}
	return s
}
